// Both directions run over memory once, channels innermost.
#include "nn/bias.hpp"

namespace rubato::nn {

Bias::Bias(const ChannelLanes& lanes) : channel_sums_(lanes), sums_(lanes.channels()) {}

void Bias::add(std::span<const float> bias, Activation activation, std::span<float> values) const {
  const float* __restrict const b = bias.data();
  const std::size_t channels = sums_.size();
  float* const end = values.data() + values.size();
  for (float* __restrict pixel = values.data(); pixel < end; pixel += channels) {
    if (activation == Activation::relu) {
      for (std::size_t c = 0; c < channels; ++c) {
        const float sum = pixel[c] + b[c];
        pixel[c] = sum <= 0.0F ? 0.0F : sum;
      }
    } else {
      for (std::size_t c = 0; c < channels; ++c) pixel[c] += b[c];
    }
  }
}

void Bias::gradient(std::span<const float> output_gradient, std::span<float> bias_gradient) {
  sum_over_pixels(output_gradient, channel_sums_, sums_);
  for (std::size_t c = 0; c < sums_.size(); ++c) bias_gradient[c] = static_cast<float>(sums_[c]);
}

}  // namespace rubato::nn
