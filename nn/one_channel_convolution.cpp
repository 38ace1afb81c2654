// Convolution of images with one channel, by passes of our own: why, and how much longer oneDNN's
// kernels take, says nn/README.md.
#include <algorithm>
#include <stdexcept>

#include "nn/aligned_buffer.hpp"
#include "nn/bias.hpp"
#include "nn/convolution.hpp"
#include "nn/convolution_passes.hpp"
#include "nn/relu.hpp"

namespace rubato::nn {
namespace {

class OneChannelConvolution final : public Convolution {
 public:
  explicit OneChannelConvolution(const ConvolutionGeometry& geometry);

  void use_parameters(ConstTensors tensors) override;
  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;

 private:
  // Calls visit(index in PyTorch's order, index in that of the passes) for each weight.
  template <typename Visit>
  void for_each_weight(Visit visit) const;
  void write_input_gradient(std::span<const float> output_gradient, std::span<float> gradient);

  OneChannelShape shape_;
  const OneChannelPasses& passes_ = convolution_passes().one_channel;
  Bias bias_;
  AlignedBuffer<float> weights_;  // [kernel, kernel, padded outputs]
  AlignedBuffer<float> weight_gradient_;
  AlignedBuffer<float> bias_values_;  // [padded outputs]
};

OneChannelConvolution::OneChannelConvolution(const ConvolutionGeometry& geometry)
    : Convolution(geometry),
      shape_{geometry.input.height, geometry.input.width, geometry.outputs, geometry.kernel},
      bias_(geometry.outputs) {
  const std::size_t weights = geometry.patch_elements() * shape_.padded_outputs();
  std::ranges::fill(weights_.first(weights), 0.0F);
  weight_gradient_.first(weights);
  std::ranges::fill(bias_values_.first(shape_.padded_outputs()), 0.0F);
}

template <typename Visit>
void OneChannelConvolution::for_each_weight(Visit visit) const {
  const std::size_t kernel_pixels = shape_.kernel * shape_.kernel;
  for (std::size_t out = 0; out < shape_.outputs; ++out) {
    for (std::size_t k = 0; k < kernel_pixels; ++k) {
      visit(out * kernel_pixels + k, k * shape_.padded_outputs() + out);
    }
  }
}

void OneChannelConvolution::use_parameters(ConstTensors tensors) {
  float* const weights = weights_.first(0).data();
  for_each_weight([&](std::size_t torch, std::size_t own) { weights[own] = tensors[0][torch]; });
  if (geometry().has_bias) std::ranges::copy(tensors[1], bias_values_.first(0).data());
}

void OneChannelConvolution::forward(const ForwardPass& pass) {
  passes_.forward(shape_, samples(pass.input), pass.input.data(), weights_.first(0).data(),
                  bias_values_.first(0).data(), lowest_output(), pass.output.data());
}

void OneChannelConvolution::backward(const BackwardPass& pass) {
  if (geometry().activation == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  if (geometry().has_bias) bias_.gradient(pass.output_gradient, pass.tensor_gradients[1]);
  const float* const gradient = weight_gradient_.first(0).data();
  passes_.weight_gradient(shape_, samples(pass.input), pass.input.data(),
                          pass.output_gradient.data(), weight_gradient_.first(0).data());
  for_each_weight(
      [&](std::size_t torch, std::size_t own) { pass.tensor_gradients[0][torch] = gradient[own]; });
  if (pass.input_gradient.empty()) return;
  pass.tell_tensors_are_final();
  write_input_gradient(pass.output_gradient, pass.input_gradient);
}

// Plain, as images are what a network begins with, and nobody needs their gradient.
void OneChannelConvolution::write_input_gradient(std::span<const float> output_gradient,
                                                 std::span<float> gradient) {
  std::ranges::fill(gradient, 0.0F);
  const Shape& out = output_shape();
  for (std::size_t pixel = 0; pixel < output_gradient.size() / shape_.outputs; ++pixel) {
    const float* const of_pixel = output_gradient.data() + pixel * shape_.outputs;
    const std::size_t sample = pixel / out.pixels();
    const std::size_t y = pixel % out.pixels() / out.width;
    const std::size_t x = pixel % out.width;
    for (std::size_t k = 0; k < shape_.kernel * shape_.kernel; ++k) {
      const float* const weights = weights_.first(0).data() + k * shape_.padded_outputs();
      const std::size_t row = sample * shape_.height + y + k / shape_.kernel;
      float sum = 0;
      for (std::size_t channel = 0; channel < shape_.outputs; ++channel) {
        sum += weights[channel] * of_pixel[channel];
      }
      gradient[row * shape_.width + x + k % shape_.kernel] += sum;
    }
  }
}

}  // namespace

bool has_one_channel_passes(const ConvolutionGeometry& geometry) {
  return geometry.input.channels == 1 && (geometry.kernel == 3 || geometry.kernel == 5) &&
         geometry.stride == 1 && geometry.padding == 0 && !geometry.has_blocks();
}

std::unique_ptr<Layer> make_one_channel_convolution(const ConvolutionGeometry& geometry) {
  if (!has_one_channel_passes(geometry)) {
    throw std::invalid_argument("layer " + geometry.name + ": no passes for its shape");
  }
  return std::make_unique<OneChannelConvolution>(geometry);
}

}  // namespace rubato::nn
