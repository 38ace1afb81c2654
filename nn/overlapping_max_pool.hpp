// Max-pooling over 3x3 pixels, stride 2, padding 1, as at the entrance of the residual networks for
// large images (He et al., arXiv 1512.03385, table 1).
//
// Windows overlap, so gradients of several windows may meet at a pixel: they are added in the
// windows' order. The padding never wins. Where several inputs are the largest, the first in scan
// order gets the gradient.
#pragma once

#include <cstdint>

#include "nn/aligned_buffer.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

class OverlappingMaxPool final : public Layer {
 public:
  explicit OverlappingMaxPool(Shape input);

  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;

 private:
  // Calls visit(output pixel, input pixel, place in the window) for every pixel of every window
  // that is not padding, in scan order.
  template <typename Visit>
  void for_each_window_pixel(Visit visit) const;

  AlignedBuffer<std::int32_t> winners_;  // place in the window, in scan order
};

}  // namespace rubato::nn
