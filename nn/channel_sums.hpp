// Sums over all pixels of a minibatch, per channel, in one fixed order: each lane
// (nn/channel_blocks.hpp) in float over a short run of rows, the runs in double, then the lanes of
// a channel one after the other. The error stays below PyTorch's own.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nn/channel_blocks.hpp"

namespace rubato::nn {

class ChannelSums {
 public:
  explicit ChannelSums(const ChannelLanes& lanes, std::size_t quantities = 1);

  const ChannelLanes& lanes() const noexcept { return lanes_; }
  // Repeats per-channel values over all lanes.
  void spread(std::span<const float> per_channel, std::span<float> per_lane) const;

  // All sums are 0.
  void clear();
  // Adds the sums of a run to a quantity's sums of these lanes.
  void add(std::size_t quantity, const BlockRun& run, const Block& sums);
  // Adds the square of the sums, divided by the run's rows.
  void add_squares(std::size_t quantity, const BlockRun& run, const Block& sums);
  // The sum of a quantity per channel.
  void fold(std::size_t quantity, std::span<double> sums) const;

 private:
  double* at(std::size_t quantity, std::size_t lane) {
    return lane_sums_.data() + quantity * lanes_.count() + lane;
  }

  ChannelLanes lanes_;
  std::vector<double> lane_sums_;  // lanes of the first quantity, of the second, ...
};

// sums[c] = sum over the pixels of values[pixel, c].
void sum_over_pixels(std::span<const float> values, ChannelSums& channel_sums,
                     std::span<double> sums);

}  // namespace rubato::nn
