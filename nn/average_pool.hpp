// The mean over all pixels of an image, per channel: PyTorch's AdaptiveAvgPool2d to one pixel.
#pragma once

#include "nn/layer.hpp"

namespace rubato::nn {

class AveragePool final : public Layer {
 public:
  explicit AveragePool(Shape input);

  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;
};

}  // namespace rubato::nn
