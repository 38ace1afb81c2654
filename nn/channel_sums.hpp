// Sums over all pixels of a minibatch, per channel, in one fixed order.
//
// Channels are rarely a multiple of the vector width (10, 20), so several pixels are taken
// together: a *row* of lanes, the smallest multiple of `channels` that is a multiple of 8. Lane j
// sums the elements j, j + lanes, ... : in float over a short run of rows, the runs in double; then
// the lanes of a channel are added in order. The order depends on the shape alone, never on the
// compiler's vectors, and the error stays below PyTorch's own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace rubato::nn {

class ChannelSums {
 public:
  explicit ChannelSums(std::size_t channels);

  std::size_t channels() const noexcept { return channels_; }
  std::size_t lanes() const noexcept { return lanes_; }
  // Repeats per-channel values over all lanes.
  void spread(std::span<const float> per_channel, std::span<float> per_lane) const;

  // sums[c] = sum over the pixels of term(index of the element, its lane). `elements` is a multiple
  // of the channels.
  template <typename Term>
  void add_up(std::size_t elements, std::span<double> sums, Term term) {
    constexpr std::size_t rows_per_run = 32;
    std::fill(lane_sums_.begin(), lane_sums_.end(), 0.0);
    for (std::size_t begin = 0; begin < elements; begin += rows_per_run * lanes_) {
      const std::size_t end = std::min(elements, begin + rows_per_run * lanes_);
      add_run(begin, end, term);
    }
    fold(sums);
  }

 private:
  template <typename Term>
  void add_run(std::size_t begin, std::size_t end, Term term) {
    const std::size_t lanes = lanes_;
    float* __restrict const run = run_sums_.data();
    std::fill_n(run, lanes, 0.0F);
    std::size_t row = begin;
    for (; row + lanes <= end; row += lanes) {
      for (std::size_t j = 0; j < lanes; ++j) run[j] += term(row + j, j);
    }
    for (std::size_t j = 0; row + j < end; ++j) run[j] += term(row + j, j);
    for (std::size_t j = 0; j < lanes; ++j) lane_sums_[j] += static_cast<double>(run[j]);
  }
  void fold(std::span<double> sums) const;

  std::size_t channels_;
  std::size_t lanes_;
  std::vector<float> run_sums_;
  std::vector<double> lane_sums_;
};

}  // namespace rubato::nn
