// Which rank of a node computes so slowly that the others wait for it in every sum?
//
// Compared is the time for a minibatch over a window of at least 20 updates and one second. A rank
// is slow that takes more than 1.5 times as long as the median of the others; it is told once, and
// again only after it was back below 1.25.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/heartbeat.hpp"

namespace rubato::runtime {

struct Straggler {
  std::size_t node_rank = 0;
  double ratio = 0;           // of its time to the others' median
  std::uint64_t updates = 0;  // of the window
};

// The lower of two in the middle. At least one value.
double lower_median(std::vector<double> values);

// How many times as long each takes as the median of the others that take any time at all; 1 where
// there is nothing to compare.
std::vector<double> ratios_to_others(std::span<const double> seconds_per_minibatch);
inline constexpr double straggling = 1.5;  // more than that many times
// Before that nothing is said of a rank.
inline constexpr std::uint64_t telling_updates = 20;
inline constexpr double telling_seconds = 1;

class StragglerSearch {
 public:
  // One pulse for each rank of the node, and the seconds on any clock. The slowest rank that was
  // not told yet, when a window is over.
  std::optional<Straggler> look(std::span<const Pulse> pulses, double time);

 private:
  void begin_window(std::span<const Pulse> pulses, double time);

  std::vector<Pulse> begin_;  // of the window; empty: there is none yet
  double begin_time_ = 0;
  std::vector<bool> is_told_;
};

}  // namespace rubato::runtime
