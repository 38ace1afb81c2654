// A layer: a differentiable function of a minibatch, on memory that it is handed.
//
// Activations are float, one sample after the other, in one of three orders. A layer says which
// tensors it has; the model places them and hands them over in the same order. What `backward`
// needs beyond its arguments a layer keeps from its own last `forward` (a dropout mask, the winners
// of a max-pool).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace rubato::nn {

// Where the channels of a sample lie. In blocks, each 8 or 16 of them are an image of their own:
// pixel by pixel, one such image behind the other, as oneDNN's kernels like them best, 16 those of
// Winograd's algorithm (its nChw16c), 8 those of AVX2 (nChw8c). As many channels as a block has lie
// the same without; they are called channels-last.
enum class Order { channels_last, blocks_of_8, blocks_of_16 };

// Shape of one sample.
struct Shape {
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t channels = 1;
  Order order = Order::channels_last;

  std::size_t pixels() const noexcept { return height * width; }
  std::size_t elements() const noexcept { return pixels() * channels; }
  // Those that lie side by side.
  std::size_t adjacent_channels() const noexcept {
    if (order == Order::channels_last) return channels;
    return order == Order::blocks_of_8 ? 8 : 16;
  }
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
  double momentum = 0;   // running statistics only
  double deviation = 0;  // above 0: initial values are normal around 0, and the interval is unused
};

using ConstTensors = std::span<const std::span<const float>>;
using Tensors = std::span<const std::span<float>>;

struct ForwardPass {
  std::span<const float> input;
  std::span<const float> addend;  // of a layer that joins two branches: the shortcut's values
  std::span<float> output;
  MinibatchKey key;
};

struct BackwardPass {
  std::span<const float> input;  // of the forward pass
  std::span<const float> output;
  // May be overwritten; a layer with an addend leaves the addend's gradient here.
  std::span<float> output_gradient;
  // To be added to it, where the output went two ways: only to layers that add by themselves.
  std::span<const float> second_output_gradient;
  // Written; empty where nobody needs it; the same memory as output_gradient where the layer
  // works in place.
  std::span<float> input_gradient;
  // The parameters' are written, in the order of tensors(): sums over the samples.
  Tensors tensor_gradients;
  // If set, a layer that writes its input gradient after those of its tensors, and takes long for
  // it, calls it in between: over a network, their sums begin the sooner.
  std::function<void()> tensors_are_final = {};
  // If set, a layer with factors calls it when its output gradient is what they are.
  std::function<void()> factors_are_final = {};

  void tell_tensors_are_final() const {
    if (tensors_are_final) tensors_are_final();
  }
  void tell_factors_are_final() const {
    if (factors_are_final) factors_are_final();
  }
};

// What backward() can do beyond the plain case, so that no pass over memory is made for it alone.
struct BackwardAbilities {
  bool works_in_place = false;
  bool adds_gradients = false;  // takes a second_output_gradient
  // Its first tensor's gradient is a product of the output gradient and the input, which
  // multiply_factors() makes of them alone.
  bool has_factors = false;
};

class Layer {
 public:
  // Throws std::invalid_argument where channels do not fill their blocks.
  Layer(Shape input, Shape output, BackwardAbilities abilities = {})
      : input_shape_(input), output_shape_(output), abilities_(abilities) {
    for (const Shape& shape : {input, output}) {
      if (shape.channels % shape.adjacent_channels() == 0) continue;
      throw std::invalid_argument("blocks of " + std::to_string(shape.adjacent_channels()) +
                                  " channels cannot hold " + std::to_string(shape.channels));
    }
  }
  virtual ~Layer() = default;

  const Shape& input_shape() const noexcept { return input_shape_; }
  const Shape& output_shape() const noexcept { return output_shape_; }
  const BackwardAbilities& abilities() const noexcept { return abilities_; }

  virtual std::vector<TensorSpec> tensors() const { return {}; }
  // New values; they stay where they are and unchanged until the next call.
  virtual void use_parameters(ConstTensors /*tensors*/) {}
  virtual void forward(const ForwardPass& pass) = 0;
  // After the forward pass, before the backward one: writes what a minibatch says of the running
  // statistics to their places among the tensors' gradients, which backward() leaves alone: over a
  // network they may have been summed by then.
  virtual void write_statistics(Tensors /*tensor_gradients*/) {}
  virtual void backward(const BackwardPass& pass) = 0;
  // The forward pass in evaluation mode; the same function for most layers.
  virtual void evaluate(const ForwardPass& pass) { forward(pass); }
  // Only of layers with factors: the gradient of the first tensor.
  virtual void multiply_factors(std::span<const float> /*output_gradient*/,
                                std::span<const float> /*input*/, std::span<float> /*gradient*/) {}

 protected:
  std::size_t samples(std::span<const float> input) const noexcept {
    return input.size() / input_shape_.elements();
  }

 private:
  Shape input_shape_;
  Shape output_shape_;
  BackwardAbilities abilities_;
};

}  // namespace rubato::nn
