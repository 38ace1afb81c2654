// Convolution between few channels, by passes of our own with samples in the lanes: why, and how
// much longer oneDNN's kernels take, says nn/README.md.
//
// Sixteen samples at a time, so that activations need not leave the caches between the passes. A
// weight's gradient is added up over the samples in lanes of its own before the lanes are added.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "nn/aligned_buffer.hpp"
#include "nn/bias.hpp"
#include "nn/convolution.hpp"
#include "nn/convolution_passes.hpp"
#include "nn/relu.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t kernel_pixels = FewChannelShape::kernel * FewChannelShape::kernel;

// Backwards, an input pixel is what a convolution of the output's gradient yields: with the
// kernel turned round, which may stand over the edge by all but one pixel.
FewChannelShape turned_round(const FewChannelShape& shape) {
  return {shape.output_height(), shape.output_width(), shape.outputs, shape.inputs,
          FewChannelShape::kernel - 1};
}

// How many samples there are from `first` on, sixteen at most.
std::size_t lanes_in_use(const Shape& shape, std::span<const float> values, std::size_t first) {
  return std::min(values.size() / shape.elements() - first, samples_in_lanes);
}

class FewChannelConvolution final : public Convolution {
 public:
  FewChannelConvolution(const ConvolutionGeometry& geometry,
                        std::unique_ptr<Layer> for_empty_lanes);

  void use_parameters(ConstTensors tensors) override;
  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;

 private:
  // So many that oneDNN's kernels are as fast.
  static bool has_many_empty_lanes(std::size_t samples) {
    const std::size_t lanes =
        (samples + samples_in_lanes - 1) / samples_in_lanes * samples_in_lanes;
    return 5 * samples < 3 * lanes;
  }
  // Writes weights in the order of the passes for a convolution of that shape: weight_at(output,
  // input, kernel pixel) is one of them.
  template <typename WeightAt>
  void write_weights(const FewChannelShape& shape, WeightAt weight_at, float* to) const;
  void write_weight_gradient(std::span<const float> input, std::span<const float> output_gradient,
                             std::span<float> gradient);
  void write_input_gradient(std::span<const float> output_gradient, std::span<float> gradient);
  // Of a shape's elements those of sixteen samples, or of as many as there are.
  float* into_lanes(const Shape& shape, std::span<const float> values, std::size_t first,
                    AlignedBuffer<float>& lanes) const;
  void out_of_lanes(const Shape& shape, std::size_t first, const AlignedBuffer<float>& lanes,
                    std::span<float> values) const;

  const FewChannelPasses& passes_ = convolution_passes().few_channels;
  FewChannelShape shape_, turned_shape_;
  std::unique_ptr<Layer> for_empty_lanes_;
  Bias bias_;
  AlignedBuffer<float> weights_, turned_weights_;
  AlignedBuffer<float> bias_values_, no_bias_;
  AlignedBuffer<float> weight_sums_;     // in lanes, as are
  AlignedBuffer<float> input_, output_;  // or their gradients
};

FewChannelConvolution::FewChannelConvolution(const ConvolutionGeometry& geometry,
                                             std::unique_ptr<Layer> for_empty_lanes)
    : Convolution(geometry),
      shape_{geometry.input.height, geometry.input.width, geometry.input.channels,
             geometry.outputs},
      turned_shape_(turned_round(shape_)),
      for_empty_lanes_(std::move(for_empty_lanes)),
      bias_(geometry.outputs) {
  const std::size_t weights = shape_.outputs * shape_.patch_elements();
  weights_.first(weights);
  turned_weights_.first(weights);
  weight_sums_.first(weights * samples_in_lanes);
  input_.first(input_shape().elements() * samples_in_lanes);
  output_.first(output_shape().elements() * samples_in_lanes);
  std::ranges::fill(bias_values_.first(shape_.outputs), 0.0F);
  std::ranges::fill(no_bias_.first(shape_.inputs), 0.0F);
}

template <typename WeightAt>
void FewChannelConvolution::write_weights(const FewChannelShape& shape, WeightAt weight_at,
                                          float* to) const {
  std::size_t first = 0;
  while (first < shape.outputs) {
    const std::size_t end = first + channels_in_block(first, shape.outputs, passes_.most_in_block);
    for (std::size_t in = 0; in < shape.inputs; ++in) {
      for (std::size_t k = 0; k < kernel_pixels; ++k) {
        for (std::size_t out = first; out < end; ++out) *to++ = weight_at(out, in, k);
      }
    }
    first = end;
  }
}

void FewChannelConvolution::use_parameters(ConstTensors tensors) {
  for_empty_lanes_->use_parameters(tensors);
  const float* const weights = tensors[0].data();
  const std::size_t inputs = shape_.inputs;
  write_weights(
      shape_,
      [=](std::size_t out, std::size_t in, std::size_t k) {
        return weights[(out * inputs + in) * kernel_pixels + k];
      },
      weights_.first(0).data());
  write_weights(
      turned_shape_,
      [=](std::size_t in, std::size_t out, std::size_t k) {
        return weights[(out * inputs + in + 1) * kernel_pixels - 1 - k];
      },
      turned_weights_.first(0).data());
  if (geometry().has_bias) std::ranges::copy(tensors[1], bias_values_.first(0).data());
}

float* FewChannelConvolution::into_lanes(const Shape& shape, std::span<const float> values,
                                         std::size_t first, AlignedBuffer<float>& lanes) const {
  float* const to = lanes.first(0).data();
  passes_.into_lanes(shape.pixels(), shape.channels, lanes_in_use(shape, values, first),
                     values.data() + first * shape.elements(), to);
  return to;
}

void FewChannelConvolution::out_of_lanes(const Shape& shape, std::size_t first,
                                         const AlignedBuffer<float>& lanes,
                                         std::span<float> values) const {
  passes_.out_of_lanes(shape.pixels(), shape.channels, lanes_in_use(shape, values, first),
                       lanes.first(0).data(), values.data() + first * shape.elements());
}

void FewChannelConvolution::forward(const ForwardPass& pass) {
  if (has_many_empty_lanes(samples(pass.input))) return for_empty_lanes_->forward(pass);
  for (std::size_t first = 0; first < samples(pass.input); first += samples_in_lanes) {
    passes_.convolve(shape_, into_lanes(input_shape(), pass.input, first, input_),
                     weights_.first(0).data(), bias_values_.first(0).data(), lowest_output(),
                     output_.first(0).data());
    out_of_lanes(output_shape(), first, output_, pass.output);
  }
}

void FewChannelConvolution::backward(const BackwardPass& pass) {
  if (has_many_empty_lanes(samples(pass.input))) return for_empty_lanes_->backward(pass);
  if (geometry().activation == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  if (geometry().has_bias) bias_.gradient(pass.output_gradient, pass.tensor_gradients[1]);
  write_weight_gradient(pass.input, pass.output_gradient, pass.tensor_gradients[0]);
  if (pass.input_gradient.empty()) return;
  pass.tell_tensors_are_final();
  write_input_gradient(pass.output_gradient, pass.input_gradient);
}

void FewChannelConvolution::write_weight_gradient(std::span<const float> input,
                                                  std::span<const float> output_gradient,
                                                  std::span<float> gradient) {
  const std::span<float> sums = weight_sums_.first(gradient.size() * samples_in_lanes);
  std::ranges::fill(sums, 0.0F);
  for (std::size_t first = 0; first < samples(input); first += samples_in_lanes) {
    passes_.add_weight_gradient(shape_, into_lanes(input_shape(), input, first, input_),
                                into_lanes(output_shape(), output_gradient, first, output_),
                                sums.data());
  }
  passes_.add_lanes(gradient.size(), sums.data(), gradient.data());
}

void FewChannelConvolution::write_input_gradient(std::span<const float> output_gradient,
                                                 std::span<float> gradient) {
  for (std::size_t first = 0; first < samples(gradient); first += samples_in_lanes) {
    passes_.convolve(turned_shape_, into_lanes(output_shape(), output_gradient, first, output_),
                     turned_weights_.first(0).data(), no_bias_.first(0).data(),
                     -std::numeric_limits<float>::infinity(), input_.first(0).data());
    out_of_lanes(input_shape(), first, input_, gradient);
  }
}

// What a kernel sees of an image, on either side, fits into the processor's nearest cache, of 32
// KiB.
constexpr std::size_t most_channels =
    32 * 1024 / (kernel_pixels * samples_in_lanes * sizeof(float));

}  // namespace

bool has_few_channel_passes(const ConvolutionGeometry& geometry) {
  const std::size_t inputs = geometry.input.channels;
  const std::size_t outputs = geometry.outputs;
  const bool fills_vectors = inputs % 16 == 0 && outputs % 16 == 0;
  return geometry.kernel == FewChannelShape::kernel && geometry.stride == 1 &&
         geometry.padding == 0 && inputs > 1 && std::max(inputs, outputs) <= most_channels &&
         !fills_vectors && !geometry.has_blocks();
}

std::unique_ptr<Layer> make_few_channel_convolution(const ConvolutionGeometry& geometry,
                                                    std::unique_ptr<Layer> for_empty_lanes) {
  if (!has_few_channel_passes(geometry)) {
    throw std::invalid_argument("layer " + geometry.name + ": no passes for its shape");
  }
  return std::make_unique<FewChannelConvolution>(geometry, std::move(for_empty_lanes));
}

}  // namespace rubato::nn
