// The parts of ChannelSums that do not depend on the summand.
#include "nn/channel_sums.hpp"

#include <numeric>

namespace rubato::nn {
namespace {

constexpr std::size_t vector_floats = 8;

}  // namespace

ChannelSums::ChannelSums(std::size_t channels)
    : channels_(channels),
      lanes_(std::lcm(channels, vector_floats)),
      run_sums_(lanes_),
      lane_sums_(lanes_) {}

void ChannelSums::spread(std::span<const float> per_channel, std::span<float> per_lane) const {
  for (std::size_t lane = 0; lane < lanes_; ++lane) per_lane[lane] = per_channel[lane % channels_];
}

void ChannelSums::fold(std::span<double> sums) const {
  for (std::size_t c = 0; c < channels_; ++c) {
    sums[c] = 0;
    for (std::size_t lane = c; lane < lanes_; lane += channels_) sums[c] += lane_sums_[lane];
  }
}

}  // namespace rubato::nn
