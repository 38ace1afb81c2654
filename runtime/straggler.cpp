// Differences of the running totals at both ends of the window.
#include "runtime/straggler.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rubato::runtime {

namespace {

constexpr double recovered = 1.25;

double seconds_per_minibatch(const Pulse& begin, const Pulse& end) {
  if (end.minibatches == begin.minibatches) return 0;
  return (end.computing_seconds - begin.computing_seconds) /
         static_cast<double>(end.minibatches - begin.minibatches);
}

}  // namespace

double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<double> ratios_to_others(std::span<const double> seconds_per_minibatch) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < seconds_per_minibatch.size(); ++i) {
    std::vector<double> others;
    for (std::size_t k = 0; k < seconds_per_minibatch.size(); ++k) {
      if (k != i && seconds_per_minibatch[k] > 0) others.push_back(seconds_per_minibatch[k]);
    }
    if (others.empty()) return std::vector<double>(seconds_per_minibatch.size(), 1.0);
    ratios.push_back(seconds_per_minibatch[i] / lower_median(std::move(others)));
  }
  return ratios;
}

std::optional<Straggler> StragglerSearch::look(std::span<const Pulse> pulses, double time) {
  if (pulses.size() < 2) return std::nullopt;
  if (begin_.empty()) begin_window(pulses, time);
  std::uint64_t updates = std::numeric_limits<std::uint64_t>::max();
  std::vector<double> times;
  for (std::size_t i = 0; i < pulses.size(); ++i) {
    updates = std::min(updates, pulses[i].update - begin_[i].update);
    times.push_back(seconds_per_minibatch(begin_[i], pulses[i]));
  }
  if (updates < telling_updates || time - begin_time_ < telling_seconds) return std::nullopt;
  begin_window(pulses, time);

  const std::vector<double> ratios = ratios_to_others(times);
  std::optional<Straggler> slowest;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (ratios[i] < recovered) is_told_[i] = false;
    if (ratios[i] <= straggling || is_told_[i]) continue;
    if (!slowest || slowest->ratio < ratios[i]) slowest = {i, ratios[i], updates};
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
