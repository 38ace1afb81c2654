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
  void forward(const ForwardPass& pass) override;
  void backward(const BackwardPass& pass) override;

 private:
  // Calls visit(elements of the patch, of the image, how many) for each run that lies in both, and
  // skip(elements of the patch, how many) for each run of padding.
  template <typename Visit, typename Skip>
  void for_each_patch_run(Visit visit, Skip skip) const;
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
  if (geometry().has_bias) bias_values_ = tensors[1];
}

void EigenConvolution::write_weight_gradient(std::span<float> gradient) const {
  const std::span<const float> own_order = weight_gradient_.first(patch_ * geometry().outputs);
  for_each_weight([&](std::size_t torch, std::size_t own) { gradient[torch] = own_order[own]; });
}

template <typename Visit, typename Skip>
void EigenConvolution::for_each_patch_run(Visit visit, Skip skip) const {
  const auto& [height, width, channels, order] = input_shape();
  const std::size_t kernel = geometry().kernel;
  const std::size_t padding = geometry().padding;
  std::size_t patch = 0;
  for (std::size_t y = 0; y < output_shape().height; ++y) {
    for (std::size_t x = 0; x < output_shape().width; ++x) {
      // Columns of the padded image, and those of them that are the image's.
      const std::size_t left = x * geometry().stride;
      const std::size_t begin = std::max(left, padding);
      const std::size_t end = std::max(begin, std::min(left + kernel, width + padding));
      for (std::size_t ky = 0; ky < kernel; ++ky, patch += kernel * channels) {
        const std::size_t row = y * geometry().stride + ky;
        if (row < padding || row >= height + padding) {
          skip(patch, kernel * channels);
          continue;
        }
        skip(patch, (begin - left) * channels);
        visit(patch + (begin - left) * channels,
              ((row - padding) * width + begin - padding) * channels, (end - begin) * channels);
        skip(patch + (end - left) * channels, (left + kernel - end) * channels);
      }
    }
  }
}

void EigenConvolution::gather_patches(const float* image) {
  float* const patches = patches_.first(pixels_ * patch_).data();
  for_each_patch_run(
      [=](std::size_t patch, std::size_t place, std::size_t count) {
        std::copy_n(image + place, count, patches + patch);
      },
      [=](std::size_t patch, std::size_t count) { std::fill_n(patches + patch, count, 0.0F); });
}

void EigenConvolution::scatter_patches(float* image) const {
  std::fill_n(image, input_shape().elements(), 0.0F);
  const float* const patches = patches_.first(pixels_ * patch_).data();
  for_each_patch_run(
      [=](std::size_t patch, std::size_t place, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) image[place + i] += patches[patch + i];
      },
      [](std::size_t /*patch*/, std::size_t /*count*/) {});
}

void EigenConvolution::forward(const ForwardPass& pass) {
  const std::size_t outputs = geometry().outputs;
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    gather_patches(pass.input.data() + sample * input_shape().elements());
    multiply(Backend::eigen, {patches_.first(0).data(), pixels_, patch_},
             {weights_.first(0).data(), patch_, outputs},
             pass.output.data() + sample * output_shape().elements());
  }
  if (geometry().has_bias) {
    bias_.add(bias_values_, geometry().activation, pass.output);
  } else if (geometry().activation == Activation::relu) {
    relu(pass.output);
  }
}

void EigenConvolution::backward(const BackwardPass& pass) {
  const std::size_t outputs = geometry().outputs;
  if (geometry().activation == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  if (geometry().has_bias) bias_.gradient(pass.output_gradient, pass.tensor_gradients[1]);
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
