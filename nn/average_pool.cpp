// Pixel by pixel, channels innermost: sums in float, in the order of the pixels.
#include "nn/average_pool.hpp"

#include <algorithm>

namespace rubato::nn {

AveragePool::AveragePool(Shape input) : Layer(input, Shape{1, 1, input.channels}) {}

void AveragePool::forward(const ForwardPass& pass) {
  const std::size_t channels = input_shape().channels;
  const std::size_t pixels = input_shape().pixels();
  const float* x = pass.input.data();
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    float* __restrict const mean = pass.output.data() + sample * channels;
    std::fill_n(mean, channels, 0.0F);
    for (std::size_t pixel = 0; pixel < pixels; ++pixel, x += channels) {
      for (std::size_t c = 0; c < channels; ++c) mean[c] += x[c];
    }
    for (std::size_t c = 0; c < channels; ++c) mean[c] /= static_cast<float>(pixels);
  }
}

void AveragePool::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  const std::size_t channels = input_shape().channels;
  const std::size_t pixels = input_shape().pixels();
  float* __restrict dx = pass.input_gradient.data();
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    const float* const dy = pass.output_gradient.data() + sample * channels;
    for (std::size_t pixel = 0; pixel < pixels; ++pixel, dx += channels) {
      for (std::size_t c = 0; c < channels; ++c) dx[c] = dy[c] / static_cast<float>(pixels);
    }
  }
}

}  // namespace rubato::nn
