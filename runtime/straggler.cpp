// Differences of the running totals at both ends of the window.
#include "runtime/straggler.hpp"

#include <algorithm>
#include <limits>

namespace rubato::runtime {

namespace {

constexpr std::uint64_t window_updates = 20;
constexpr double window_seconds = 1;
constexpr double slow = 1.5;
constexpr double recovered = 1.25;

double seconds_per_minibatch(const Pulse& begin, const Pulse& end) {
  if (end.minibatches == begin.minibatches) return 0;
  return (end.computing_seconds - begin.computing_seconds) /
         static_cast<double>(end.minibatches - begin.minibatches);
}

// The lower of two in the middle: of two ranks, each is compared with the other.
double median_without(std::vector<double> values, std::size_t left_out) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(left_out));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::optional<Straggler> StragglerSearch::look(std::span<const Pulse> pulses, double time) {
  if (pulses.size() < 2) return std::nullopt;
  if (begin_.empty()) begin_window(pulses, time);
  std::uint64_t updates = std::numeric_limits<std::uint64_t>::max();
  std::vector<double> times;
  for (std::size_t i = 0; i < pulses.size(); ++i) {
    updates = std::min(updates, pulses[i].update - begin_[i].update);
    times.push_back(seconds_per_minibatch(begin_[i], pulses[i]));
  }
  if (updates < window_updates || time - begin_time_ < window_seconds) return std::nullopt;
  begin_window(pulses, time);

  std::optional<Straggler> slowest;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double median = median_without(times, i);
    const double ratio = median > 0 ? times[i] / median : 1;
    if (ratio < recovered) is_told_[i] = false;
    if (ratio <= slow || is_told_[i] || (slowest && slowest->ratio >= ratio)) continue;
    slowest = {i, ratio, updates};
  }
  if (slowest) is_told_[slowest->node_rank] = true;
  return slowest;
}

void StragglerSearch::begin_window(std::span<const Pulse> pulses, double time) {
  begin_.assign(pulses.begin(), pulses.end());
  begin_time_ = time;
  is_told_.resize(pulses.size());
}

}  // namespace rubato::runtime
