// A dense layer: y = x W^T + b, W of shape [outputs, inputs] as in PyTorch's Linear.
#pragma once

#include "nn/backend.hpp"
#include "nn/bias.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

class Dense final : public Layer {
 public:
  // Takes the input as a plain vector of input.elements() features.
  Dense(std::string name, Shape input, std::size_t outputs, Activation activation, Backend backend);

  std::vector<TensorSpec> tensors() const override;
  void use_parameters(ConstTensors tensors) override;
  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;
  void multiply_factors(std::span<const float> output_gradient, std::span<const float> input,
                        std::span<float> gradient) override;

 private:
  std::string name_;
  std::size_t inputs_;
  std::size_t outputs_;
  Activation activation_;
  Backend backend_;
  Bias bias_;
  std::span<const float> weight_values_;
  std::span<const float> bias_values_;
};

}  // namespace rubato::nn
