// From channels-last images to feature vectors in PyTorch's order (channel, row, column), so that
// the dense layer behind has PyTorch's weights.
//
// It moves the activations. Permuting the dense layer's columns instead would move its weights once
// per update and their gradient once per minibatch: four times as many floats for `mnist-tutorial`.
#pragma once

#include "nn/layer.hpp"

namespace rubato::nn {

class Flatten final : public Layer {
 public:
  explicit Flatten(Shape input);

  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;
};

}  // namespace rubato::nn
