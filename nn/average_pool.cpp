// Pixel by pixel, channels innermost: sums in float, in the order of the pixels. Each block of
// channels is an image of its own.
#include "nn/average_pool.hpp"

#include <algorithm>

namespace rubato::nn {

AveragePool::AveragePool(Shape input) : Layer(input, Shape{1, 1, input.channels}) {}

void AveragePool::forward(const ForwardPass& pass) {
  const std::size_t channels = input_shape().adjacent_channels();
  const std::size_t pixels = input_shape().pixels();
  const float* x = pass.input.data();
  const std::size_t images = pass.output.size() / channels;
  for (std::size_t image = 0; image < images; ++image) {
    float* __restrict const mean = pass.output.data() + image * channels;
    std::fill_n(mean, channels, 0.0F);
    for (std::size_t pixel = 0; pixel < pixels; ++pixel, x += channels) {
      for (std::size_t c = 0; c < channels; ++c) mean[c] += x[c];
    }
    for (std::size_t c = 0; c < channels; ++c) mean[c] /= static_cast<float>(pixels);
  }
}

void AveragePool::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  const std::size_t channels = input_shape().adjacent_channels();
  const std::size_t pixels = input_shape().pixels();
  float* __restrict dx = pass.input_gradient.data();
  const std::size_t images = pass.output_gradient.size() / channels;
  for (std::size_t image = 0; image < images; ++image) {
    const float* const dy = pass.output_gradient.data() + image * channels;
    for (std::size_t pixel = 0; pixel < pixels; ++pixel, dx += channels) {
      for (std::size_t c = 0; c < channels; ++c) dx[c] = dy[c] / static_cast<float>(pixels);
    }
  }
}

}  // namespace rubato::nn
