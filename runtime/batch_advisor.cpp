// A substep's time is the mean over the ranks, and a rank's slowness its own over that, as far as
// it stands out of what ranks that are alike differ by.
#include "runtime/batch_advisor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "optim/longest_share.hpp"
#include "runtime/comparable_times.hpp"

namespace rubato::runtime {

namespace {

constexpr double alike = 0.15;  // of ranks whose times for a minibatch differ by less

bool can_be_met(const optim::BatchLimits& limits, std::size_t ranks) {
  try {
    optim::batch_candidates(limits, ranks);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::string plural(std::size_t ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

// Seconds of a minibatch, the mean over the ranks that had a whole one; 0 if none had.
double mean_substep(std::span<const RankTime> times) {
  double sum = 0;
  double ranks = 0;
  for (const RankTime& time : times) {
    if (time.whole_minibatches == 0) continue;
    sum += time.whole_seconds / time.whole_minibatches;
    ++ranks;
  }
  return ranks > 0 ? sum / ranks : 0;
}

}  // namespace

std::size_t most_ranks_within(const optim::BatchLimits& limits, std::size_t ranks,
                              std::optional<std::uint64_t> samples) {
  while (ranks > 0 && !can_be_met(limits_within(limits, samples, ranks), ranks)) --ranks;
  return ranks;
}

optim::Configuration initial_batch(const optim::BatchLimits& limits, std::size_t ranks,
                                   const std::string& where) {
  try {
    return optim::initial_configuration(limits, ranks);
  } catch (const std::invalid_argument& error) {
    const std::size_t fewer = most_ranks_within(limits, ranks);
    std::size_t more = ranks;
    while (fewer == 0 && more <= 4 * ranks && !can_be_met(limits, more)) ++more;
    const std::size_t would_do = fewer > 0 ? fewer : more <= 4 * ranks ? more : 0;
    throw std::invalid_argument(where + ": " + error.what() +
                                (would_do > 0 ? "; " + plural(would_do) + " would do" : ""));
  }
}

optim::BatchLimits limits_within(optim::BatchLimits limits, std::optional<std::uint64_t> samples,
                                 std::size_t ranks) {
  if (!samples) return limits;
  const bool may_be_larger =
      limits.max_batch_size ? *limits.max_batch_size > *samples
                            : limits.local_bounds && limits.local_bounds->upper > *samples / ranks;
  if (may_be_larger) limits.max_batch_size = samples;
  return limits;
}

std::uint64_t largest_minibatch(const optim::BatchLimits& limits, std::size_t ranks) {
  const auto& [initial, most, local, fixed, accumulates, below, single] = limits;
  if (fixed) return *fixed;
  if (!most) return local->upper;
  const std::uint64_t upper = local ? local->upper : (*most + ranks - 1) / ranks;
  return std::min(upper, *most);
}

BatchAdvisor::BatchAdvisor(const optim::BatchLimits& limits, std::size_t hosts, std::size_t ranks,
                           bool shared_by_speed)
    : limits_(limits),
      hosts_(hosts),
      ranks_(ranks),
      shared_by_speed_(shared_by_speed),
      initial_(initial_batch(limits, ranks)),
      speeds_(ranks) {}

std::optional<std::pair<std::uint64_t, std::uint64_t>> BatchAdvisor::sizes_to_try(
    std::uint64_t in_use) const {
  constexpr std::uint64_t apart = 4;  // times: far enough that noise matters little
  const std::uint64_t largest = largest_minibatch(limits_, ranks_);
  in_use = std::min(in_use, largest);
  const std::uint64_t more = std::min(apart * in_use, largest);
  if (more > in_use) return std::pair{in_use, more};
  const std::uint64_t least = limits_.fixed_minibatch ? *limits_.fixed_minibatch
                              : limits_.local_bounds  ? limits_.local_bounds->lower
                                                      : 1;
  const std::uint64_t fewer = std::max(in_use / apart, least);
  if (fewer < in_use) return std::pair{fewer, in_use};
  return std::nullopt;
}

void BatchAdvisor::observe(const data::PlannedUpdate& update, const optim::Configuration& current,
                           std::span<const RankTime> times, double seconds) {
  const std::uint64_t minibatches = update.minibatches.size();
  if (update.batch_size != current.batch || minibatches != optim::minibatches_of(current)) return;
  const double substep = mean_substep(times);
  const auto is_time = [](double value) { return value > 0 && std::isfinite(value); };
  if (!is_time(substep) || !is_time(seconds)) return;
  speeds_.learn(times, update.minibatch);
  profile_.observe({hosts_, ranks_, update.minibatch, minibatches}, substep, seconds);
}

optim::Allocation BatchAdvisor::allocation() const {
  optim::Allocation allocation{hosts_, ranks_, {}, shared_by_speed_};
  if (!speeds_.are_known()) return allocation;
  std::vector<double> slowness = speeds_.estimates();
  const double mean =
      std::accumulate(slowness.begin(), slowness.end(), 0.0) / static_cast<double>(ranks_);
  double most = 0;
  for (double& slow : slowness) {
    slow = std::clamp(slow / mean, 0.001, 1000.0);
    most = std::max(most, std::abs(slow - 1));
  }
  if (most > alike) allocation.slowness = std::move(slowness);
  return allocation;
}

void BatchAdvisor::settle(UpdateProfile& profile) const {
  profile.settle(optim::longest_share(allocation(), profile.observed().minibatches));
}

UpdateProfile BatchAdvisor::settled_profile() const {
  UpdateProfile profile = profile_;
  settle(profile);
  return profile;
}

std::optional<BatchAdvisor::Advice> BatchAdvisor::advise(const optim::NoiseLevel& noise,
                                                         const optim::Configuration& current) {
  settle(profile_);
  const auto times =
      optim::fit(comparable_times(profile_.measurements(), hosts_, ranks_, seconds_per_sample_),
                 seconds_per_sample_);
  if (!times) return std::nullopt;
  const optim::GoodputModel model{*times, noise, static_cast<double>(limits_.initial_batch),
                                  allocation()};
  const bool may_stay = optim::is_within(limits_, ranks_, current);
  return Advice{optim::best_configuration(model, limits_, current),
                may_stay ? optim::goodput(model, current) : 0};
}

}  // namespace rubato::runtime
