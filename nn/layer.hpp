// A layer: a differentiable function of a minibatch, on memory that it is handed.
//
// Activations are float, channels-last (NHWC), one sample after the other. A layer says which
// tensors it has; the model places them and hands them over in the same order. What `backward`
// needs beyond its arguments a layer keeps from its own last `forward` (a dropout mask, the winners
// of a max-pool).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace rubato::nn {

// Shape of one sample, channels varying fastest.
struct Shape {
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t channels = 1;

  std::size_t pixels() const noexcept { return height * width; }
  std::size_t elements() const noexcept { return pixels() * channels; }
  bool operator==(const Shape&) const = default;
};

enum class Activation { none, relu };  // applied by the layer to its own output

struct TensorSpec {
  std::string name;  // PyTorch's, "conv1.weight"
  std::vector<std::size_t> shape;
  double lower =
      0;  // initial values are uniform in [lower, upper), constant where the two are equal
  double upper = 0;
  bool is_parameter = true;
  double momentum = 0;  // running statistics only
};

using ConstTensors = std::span<const std::span<const float>>;
using Tensors = std::span<const std::span<float>>;

struct BackwardPass {
  std::span<const float> input;  // of the forward pass
  std::span<const float> output;
  std::span<float> output_gradient;  // may be overwritten
  std::span<float> input_gradient;   // written; empty where nobody needs it
  Tensors tensor_gradients;          // written, in the order of tensors(): sums over the samples
};

class Layer {
 public:
  Layer(Shape input, Shape output) : input_shape_(input), output_shape_(output) {}
  virtual ~Layer() = default;

  const Shape& input_shape() const noexcept { return input_shape_; }
  const Shape& output_shape() const noexcept { return output_shape_; }

  virtual std::vector<TensorSpec> tensors() const { return {}; }
  // New values; they stay where they are and unchanged until the next call.
  virtual void use_parameters(ConstTensors /*tensors*/) {}
  virtual void forward(std::span<const float> input, std::span<float> output,
                       const MinibatchKey& key) = 0;
  virtual void backward(const BackwardPass& pass) = 0;
  // The forward pass in evaluation mode; the same function for most layers.
  virtual void evaluate(std::span<const float> input, std::span<float> output) {
    forward(input, output, MinibatchKey{});
  }

 protected:
  std::size_t samples(std::span<const float> input) const noexcept {
    return input.size() / input_shape_.elements();
  }

 private:
  Shape input_shape_;
  Shape output_shape_;
};

}  // namespace rubato::nn
