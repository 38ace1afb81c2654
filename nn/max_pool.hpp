// Max-pooling over 2x2 pixels, stride 2, optionally followed by ReLU; an odd last row or column is
// left out, as in PyTorch. Of channels in any order; what it yields is channels-last.
//
// ReLU and max commute, so a ReLU before the pool may be computed after it, on a quarter of the
// elements. Where several inputs are the largest, the first in scan order gets the gradient.
#pragma once

#include <cstdint>

#include "nn/aligned_buffer.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

class MaxPool final : public Layer {
 public:
  // Throws std::invalid_argument where the input is smaller than 2x2.
  MaxPool(const std::string& name, Shape input, Activation activation);

  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;

 private:
  Activation activation_;
  AlignedBuffer<std::int32_t> winners_;  // which of the window's four pixels, in scan order
};

}  // namespace rubato::nn
