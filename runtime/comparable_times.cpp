// The model, fitted to the ranks that matter alone, says how long a substep would take them; the
// median of the ratios to that is how much slower others are.
#include "runtime/comparable_times.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace rubato::runtime {

namespace {

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
                                                   const Ranks& ranks) {
  std::vector<optim::Measurement> theirs;
  for (const auto& measured : profile) {
    if (ranks_of(measured) == ranks) theirs.push_back(measured);
  }
  return optim::fit(theirs);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::vector<optim::Measurement> comparable_times(std::vector<optim::Measurement> profile,
                                                 std::size_t hosts, std::size_t ranks) {
  if (profile.empty()) return profile;
  auto times = fit_of(profile, {hosts, ranks});
  if (!times) times = fit_of(profile, most_measured(profile));
  if (!times) return profile;
  std::map<Ranks, std::vector<double>> ratios;
  for (const auto& measured : profile) {
    const double expected = optim::predict(*times, measured.work).substep_seconds;
    if (measured.substep_seconds > 0) {
      ratios[ranks_of(measured)].push_back(measured.substep_seconds / expected);
    }
  }
  std::map<Ranks, double> slowness;
  for (auto& [of, values] : ratios) slowness[of] = median(values);
  for (auto& measured : profile) {
    const auto found = slowness.find(ranks_of(measured));
    if (found == slowness.end()) continue;
    measured.substep_seconds /= found->second;
    measured.work.substeps *= found->second;
  }
  return profile;
}

}  // namespace rubato::runtime
