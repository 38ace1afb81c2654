// The model, fitted to the ranks that matter alone, says how long a substep would take them. It
// need not meet even theirs; so how much slower others are is the median of their ratios to it,
// over that of those that matter, whose own times stay as they are.
#include "runtime/comparable_times.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace rubato::runtime {

namespace {

// Of times from elsewhere: enough to tell what is not known here, too little to bend what is.
constexpr double relevance_of_others = 0.01;

using Ranks = std::pair<std::size_t, std::size_t>;  // hosts, ranks

Ranks ranks_of(const optim::Measurement& measured) {
  return {measured.work.hosts, measured.work.ranks};
}

Ranks most_measured(const std::vector<optim::Measurement>& profile) {
  std::map<Ranks, std::uint64_t> updates;
  for (const auto& measured : profile) updates[ranks_of(measured)] += measured.observations;
  const auto by_updates = [](const auto& left, const auto& right) {
    return left.second < right.second;
  };
  return std::ranges::max_element(updates, by_updates)->first;
}

std::optional<optim::PerformanceParameters> fit_of(const std::vector<optim::Measurement>& profile,
                                                   const Ranks& ranks,
                                                   std::optional<double> seconds_per_sample) {
  std::vector<optim::Measurement> theirs;
  for (const auto& measured : profile) {
    if (ranks_of(measured) == ranks) theirs.push_back(measured);
  }
  return optim::fit(theirs, seconds_per_sample);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::vector<optim::Measurement> comparable_times(std::vector<optim::Measurement> profile,
                                                 std::size_t hosts, std::size_t ranks,
                                                 std::optional<double> seconds_per_sample) {
  if (profile.empty()) return profile;
  Ranks here{hosts, ranks};
  auto times = fit_of(profile, here, seconds_per_sample);
  if (!times) {
    here = most_measured(profile);
    times = fit_of(profile, here, seconds_per_sample);
  }
  if (!times) return profile;
  std::map<Ranks, std::vector<double>> ratios;
  for (const auto& measured : profile) {
    const double expected = optim::predict(*times, measured.work).substep_seconds;
    if (measured.substep_seconds > 0) {
      ratios[ranks_of(measured)].push_back(measured.substep_seconds / expected);
    }
  }
  std::map<Ranks, double> medians;
  for (auto& [of, values] : ratios) medians[of] = median(values);
  for (auto& measured : profile) {
    if (ranks_of(measured) == here) continue;
    measured.relevance = relevance_of_others;
    if (!medians.contains(here) || !medians.contains(ranks_of(measured))) continue;
    const double slowness = medians[ranks_of(measured)] / medians[here];
    measured.substep_seconds /= slowness;
    measured.work.substeps *= slowness;
  }
  return profile;
}

}  // namespace rubato::runtime
