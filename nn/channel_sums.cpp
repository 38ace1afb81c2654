// Bookkeeping of lanes and channels, and the plainest of sums.
#include "nn/channel_sums.hpp"

#include <algorithm>

namespace rubato::nn {

ChannelSums::ChannelSums(const ChannelLanes& lanes, std::size_t quantities)
    : lanes_(lanes), lane_sums_(quantities * lanes.count()) {}

void ChannelSums::spread(std::span<const float> per_channel, std::span<float> per_lane) const {
  lanes_.for_each([&](std::size_t lane, std::size_t c) { per_lane[lane] = per_channel[c]; });
}

void ChannelSums::clear() { std::fill(lane_sums_.begin(), lane_sums_.end(), 0.0); }

void ChannelSums::add(std::size_t quantity, const BlockRun& run, const Block& sums) {
  const auto values = lanes_of(sums);
  double* const lane_sums = at(quantity, run.lane);
  for (std::size_t j = 0; j < block_lanes; ++j) lane_sums[j] += static_cast<double>(values[j]);
}

void ChannelSums::add_squares(std::size_t quantity, const BlockRun& run, const Block& sums) {
  const auto values = lanes_of(sums);
  double* const lane_sums = at(quantity, run.lane);
  const double rows_inverse = 1.0 / static_cast<double>(run.rows);
  for (std::size_t j = 0; j < block_lanes; ++j) {
    const auto sum = static_cast<double>(values[j]);
    lane_sums[j] += sum * sum * rows_inverse;
  }
}

void ChannelSums::fold(std::size_t quantity, std::span<double> sums) const {
  const double* const lane_sums = lane_sums_.data() + quantity * lanes_.count();
  std::ranges::fill(sums, 0.0);
  lanes_.for_each([&](std::size_t lane, std::size_t c) { sums[c] += lane_sums[lane]; });
}

void sum_over_pixels(std::span<const float> values, ChannelSums& channel_sums,
                     std::span<double> sums) {
  const float* const x = values.data();
  channel_sums.clear();
  for_each_run(values.size(), channel_sums.lanes(), [&](auto access, const BlockRun& run) {
    channel_sums.add(0, run, sum_of(access, run, x));
  });
  channel_sums.fold(0, sums);
}

}  // namespace rubato::nn
