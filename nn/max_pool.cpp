// Channels innermost: a window is four contiguous runs of channels, compared and selected without
// branches.
#include "nn/max_pool.hpp"

#include <algorithm>
#include <stdexcept>

#include "nn/winners.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t window = 2;
constexpr std::int32_t no_winner = -1;  // ReLU cut the maximum off: no input gets a gradient

Shape pooled(const std::string& name, const Shape& input) {
  if (input.height < window || input.width < window) {
    throw std::invalid_argument("layer " + name +
                                ": a 2x2 max-pool does not fit into an input of " +
                                std::to_string(input.height) + "x" + std::to_string(input.width) +
                                " pixels; use larger images or a model without convolutions");
  }
  return {input.height / window, input.width / window, input.channels};
}

// One window of four pixels, each a run of channels.
template <Activation activation>
void pool_window(const float* pixel0, const float* pixel1, const float* pixel2, const float* pixel3,
                 std::size_t channels, float* __restrict output, std::int32_t* __restrict winners) {
  for (std::size_t c = 0; c < channels; ++c) {
    float best = pixel0[c];
    std::int32_t winner = 0;
    challenge(pixel1[c], 1, best, winner);
    challenge(pixel2[c], 2, best, winner);
    challenge(pixel3[c], 3, best, winner);
    if constexpr (activation == Activation::relu) {
      winner = best <= 0.0F ? no_winner : winner;
      best = best <= 0.0F ? 0.0F : best;
    }
    output[c] = best;
    winners[c] = winner;
  }
}

void route_window(const float* __restrict gradient, const std::int32_t* __restrict winners,
                  std::size_t channels, float* __restrict pixel0, float* __restrict pixel1,
                  float* __restrict pixel2, float* __restrict pixel3) {
  for (std::size_t c = 0; c < channels; ++c) {
    pixel0[c] = routed(gradient[c], winners[c], 0);
    pixel1[c] = routed(gradient[c], winners[c], 1);
    pixel2[c] = routed(gradient[c], winners[c], 2);
    pixel3[c] = routed(gradient[c], winners[c], 3);
  }
}

template <Activation activation>
void pool_image(const float* image, const Shape& input, const Shape& output, float* pooled_image,
                std::int32_t* winners) {
  const std::size_t row = input.width * input.channels;
  const std::size_t channels = input.channels;
  for (std::size_t y = 0; y < output.height; ++y) {
    const float* top = image + window * y * row;
    for (std::size_t x = 0; x < output.width; ++x, top += window * channels) {
      const float* const bottom = top + row;
      pool_window<activation>(top, top + channels, bottom, bottom + channels, channels,
                              pooled_image, winners);
      pooled_image += channels;
      winners += channels;
    }
  }
}

void route_image(const float* gradient, const std::int32_t* winners, const Shape& input,
                 const Shape& output, float* image) {
  const std::size_t row = input.width * input.channels;
  const std::size_t channels = input.channels;
  if (window * output.height != input.height || window * output.width != input.width) {
    std::fill_n(image, input.elements(), 0.0F);  // an odd last row or column has no window
  }
  for (std::size_t y = 0; y < output.height; ++y) {
    float* top = image + window * y * row;
    for (std::size_t x = 0; x < output.width; ++x, top += window * channels) {
      float* const bottom = top + row;
      route_window(gradient, winners, channels, top, top + channels, bottom, bottom + channels);
      gradient += channels;
      winners += channels;
    }
  }
}

}  // namespace

MaxPool::MaxPool(const std::string& name, Shape input, Activation activation)
    : Layer(input, pooled(name, input)), activation_(activation) {}

void MaxPool::forward(const ForwardPass& pass) {
  const auto pool =
      activation_ == Activation::relu ? pool_image<Activation::relu> : pool_image<Activation::none>;
  std::int32_t* const winners = winners_.first(pass.output.size()).data();
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    const std::size_t place = sample * output_shape().elements();
    pool(pass.input.data() + sample * input_shape().elements(), input_shape(), output_shape(),
         pass.output.data() + place, winners + place);
  }
}

void MaxPool::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  const std::int32_t* const winners = winners_.first(pass.output.size()).data();
  for (std::size_t sample = 0; sample < samples(pass.input); ++sample) {
    const std::size_t place = sample * output_shape().elements();
    route_image(pass.output_gradient.data() + place, winners + place, input_shape(), output_shape(),
                pass.input_gradient.data() + sample * input_shape().elements());
  }
}

}  // namespace rubato::nn
