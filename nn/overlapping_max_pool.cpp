// Channels innermost: each pixel of a window challenges the best so far, all channels at once.
#include "nn/overlapping_max_pool.hpp"

#include <algorithm>
#include <limits>

#include "nn/winners.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t window = 3;
constexpr std::size_t stride = 2;
constexpr std::size_t padding = 1;
constexpr float lowest = -std::numeric_limits<float>::infinity();

std::size_t pooled(std::size_t extent) { return (extent + 2 * padding - window) / stride + 1; }

void challenge_pixel(const float* __restrict candidate, std::int32_t place, std::size_t channels,
                     float* __restrict best, std::int32_t* __restrict winner) {
  for (std::size_t c = 0; c < channels; ++c) challenge(candidate[c], place, best[c], winner[c]);
}

// Adds the gradient where `place` won.
void route(const float* __restrict gradient, const std::int32_t* __restrict winner,
           std::int32_t place, std::size_t channels, float* __restrict target) {
  for (std::size_t c = 0; c < channels; ++c) target[c] += routed(gradient[c], winner[c], place);
}

}  // namespace

OverlappingMaxPool::OverlappingMaxPool(Shape input)
    : Layer(input, Shape{pooled(input.height), pooled(input.width), input.channels}) {}

template <typename Visit>
void OverlappingMaxPool::for_each_window_pixel(Visit visit) const {
  const auto& [height, width, channels, order] = input_shape();
  for (std::size_t y = 0; y < output_shape().height; ++y) {
    for (std::size_t x = 0; x < output_shape().width; ++x) {
      for (std::size_t place = 0; place < window * window; ++place) {
        const std::size_t row = y * stride + place / window;  // of the padded image
        const std::size_t column = x * stride + place % window;
        if (row < padding || row >= height + padding) continue;
        if (column < padding || column >= width + padding) continue;
        visit(y * output_shape().width + x, (row - padding) * width + column - padding,
              static_cast<std::int32_t>(place));
      }
    }
  }
}

void OverlappingMaxPool::forward(const ForwardPass& pass) {
  const std::size_t channels = input_shape().channels;
  const std::span<std::int32_t> winners = winners_.first(pass.output.size());
  std::fill(pass.output.begin(), pass.output.end(), lowest);
  std::fill(winners.begin(), winners.end(), 0);
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    const float* const x = pass.input.data() + sample * input_shape().elements();
    float* const y = pass.output.data() + sample * output_shape().elements();
    std::int32_t* const winner = winners.data() + sample * output_shape().elements();
    for_each_window_pixel([=](std::size_t out, std::size_t in, std::int32_t place) {
      challenge_pixel(x + in * channels, place, channels, y + out * channels,
                      winner + out * channels);
    });
  }
}

void OverlappingMaxPool::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  const std::size_t channels = input_shape().channels;
  const std::int32_t* const winners = winners_.first(pass.output.size()).data();
  std::fill(pass.input_gradient.begin(), pass.input_gradient.end(), 0.0F);
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    const float* const dy = pass.output_gradient.data() + sample * output_shape().elements();
    const std::int32_t* const winner = winners + sample * output_shape().elements();
    float* const dx = pass.input_gradient.data() + sample * input_shape().elements();
    for_each_window_pixel([=](std::size_t out, std::size_t in, std::int32_t place) {
      route(dy + out * channels, winner + out * channels, place, channels, dx + in * channels);
    });
  }
}

}  // namespace rubato::nn
