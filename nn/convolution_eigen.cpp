// Convolution as matrix product: every output pixel's input patch becomes a row (im2col), in the
// order [ky, kx, channel] in which a patch's pixel rows lie contiguous in a channels-last image.
//
// One sample at a time: its patch matrix stays in cache, and no sample can see another's memory.
// Patches are built again in the backward pass, which costs less than keeping them for the whole
// minibatch. The weights' gradient is added up in sample order.
#include <algorithm>

#include "nn/aligned_buffer.hpp"
#include "nn/bias.hpp"
#include "nn/convolution.hpp"
#include "nn/matrix_product.hpp"
#include "nn/relu.hpp"

namespace rubato::nn {
namespace {

class EigenConvolution final : public Convolution {
 public:
  explicit EigenConvolution(const ConvolutionGeometry& geometry);

  void use_parameters(ConstTensors tensors) override;
  void forward(std::span<const float> input, std::span<float> output,
               const MinibatchKey& key) override;
  void backward(const BackwardPass& pass) override;

 private:
  std::size_t kernel_row() const { return geometry().kernel * geometry().input.channels; }
  void gather_patches(const float* image);
  void scatter_patches(float* image) const;
  void write_weight_gradient(std::span<float> gradient) const;
  // Calls visit(index in PyTorch's order, index in patch order) for each weight.
  template <typename Visit>
  void for_each_weight(Visit visit) const;

  std::size_t pixels_;  // of the output
  std::size_t patch_;   // elements of a patch
  Bias bias_;
  std::span<const float> bias_values_;
  AlignedBuffer<float> weights_;  // [patch element, output channel]
  AlignedBuffer<float> weight_gradient_;
  AlignedBuffer<float> patches_;  // [output pixel, patch element]
};

EigenConvolution::EigenConvolution(const ConvolutionGeometry& geometry)
    : Convolution(geometry),
      pixels_(output_shape().pixels()),
      patch_(geometry.patch_elements()),
      bias_(geometry.outputs) {
  weights_.first(patch_ * geometry.outputs);
  weight_gradient_.first(patch_ * geometry.outputs);
  patches_.first(pixels_ * patch_);
}

template <typename Visit>
void EigenConvolution::for_each_weight(Visit visit) const {
  const std::size_t outputs = geometry().outputs;
  const std::size_t inputs = geometry().input.channels;
  const std::size_t kernel_pixels = geometry().kernel * geometry().kernel;
  for (std::size_t out = 0; out < outputs; ++out) {
    for (std::size_t in = 0; in < inputs; ++in) {
      for (std::size_t k = 0; k < kernel_pixels; ++k) {
        visit((out * inputs + in) * kernel_pixels + k, (k * inputs + in) * outputs + out);
      }
    }
  }
}

void EigenConvolution::use_parameters(ConstTensors tensors) {
  const std::span<float> weights = weights_.first(patch_ * geometry().outputs);
  for_each_weight([&](std::size_t torch, std::size_t own) { weights[own] = tensors[0][torch]; });
  bias_values_ = tensors[1];
}

void EigenConvolution::write_weight_gradient(std::span<float> gradient) const {
  const std::span<const float> own_order = weight_gradient_.first(patch_ * geometry().outputs);
  for_each_weight([&](std::size_t torch, std::size_t own) { gradient[torch] = own_order[own]; });
}

void EigenConvolution::gather_patches(const float* image) {
  const std::size_t image_row = input_shape().width * input_shape().channels;
  float* patch = patches_.first(pixels_ * patch_).data();
  for (std::size_t y = 0; y < output_shape().height; ++y) {
    for (std::size_t x = 0; x < output_shape().width; ++x) {
      const float* corner = image + y * image_row + x * input_shape().channels;
      for (std::size_t ky = 0; ky < geometry().kernel; ++ky, patch += kernel_row()) {
        std::copy_n(corner + ky * image_row, kernel_row(), patch);
      }
    }
  }
}

void EigenConvolution::scatter_patches(float* image) const {
  const std::size_t image_row = input_shape().width * input_shape().channels;
  const std::size_t row = kernel_row();
  std::fill_n(image, input_shape().elements(), 0.0F);
  const float* patch = patches_.first(pixels_ * patch_).data();
  for (std::size_t y = 0; y < output_shape().height; ++y) {
    for (std::size_t x = 0; x < output_shape().width; ++x) {
      float* corner = image + y * image_row + x * input_shape().channels;
      for (std::size_t ky = 0; ky < geometry().kernel; ++ky, patch += row) {
        float* const target = corner + ky * image_row;
        for (std::size_t i = 0; i < row; ++i) target[i] += patch[i];
      }
    }
  }
}

void EigenConvolution::forward(std::span<const float> input, std::span<float> output,
                               const MinibatchKey& /*key*/) {
  const std::size_t outputs = geometry().outputs;
  for (std::size_t sample = 0; sample < samples(input); ++sample) {
    gather_patches(input.data() + sample * input_shape().elements());
    multiply(Backend::eigen, {patches_.first(0).data(), pixels_, patch_},
             {weights_.first(0).data(), patch_, outputs},
             output.data() + sample * output_shape().elements());
  }
  bias_.add(bias_values_, geometry().activation, output);
}

void EigenConvolution::backward(const BackwardPass& pass) {
  const std::size_t outputs = geometry().outputs;
  if (geometry().activation == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  bias_.gradient(pass.output_gradient, pass.tensor_gradients[1]);
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    const float* const gradient = pass.output_gradient.data() + sample * output_shape().elements();
    gather_patches(pass.input.data() + sample * input_shape().elements());
    multiply(Backend::eigen, {patches_.first(0).data(), pixels_, patch_, /*is_transposed=*/true},
             {gradient, pixels_, outputs}, weight_gradient_.first(0).data(),
             /*accumulate=*/sample > 0);
    if (pass.input_gradient.empty()) continue;
    multiply(Backend::eigen, {gradient, pixels_, outputs},
             {weights_.first(0).data(), patch_, outputs, /*is_transposed=*/true},
             patches_.first(0).data());
    scatter_patches(pass.input_gradient.data() + sample * input_shape().elements());
  }
  write_weight_gradient(pass.tensor_gradients[0]);
}

}  // namespace

std::unique_ptr<Layer> make_eigen_convolution(const ConvolutionGeometry& geometry) {
  return std::make_unique<EigenConvolution>(geometry);
}

}  // namespace rubato::nn
