// See rank_speeds.hpp.
#include "runtime/rank_speeds.hpp"

#include <algorithm>
#include <limits>

#include "data/substep_plan.hpp"
#include "runtime/straggler.hpp"

namespace rubato::runtime {

namespace {

constexpr std::size_t remembered = 5;
constexpr double worth_moving = 1.03;
constexpr std::uint64_t updates_before_trial = 16;
constexpr double trial_budget = 0.01;

}  // namespace

void RankSpeeds::learn(std::span<const RankTime> times, std::uint64_t minibatch) {
  bool has_told = false;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    ++rank.idle_updates;
    ++rank.updates_untried;
    if (times[i].whole_minibatches == 0 || times[i].whole_seconds <= 0) continue;
    has_told = true;
    if (rank.idle_updates > updates_before_trial) rank.recent.clear();
    if (rank.recent.size() == remembered) rank.recent.erase(rank.recent.begin());
    const double samples = times[i].whole_minibatches * static_cast<double>(minibatch);
    rank.recent.push_back(times[i].whole_seconds / samples);
    rank.idle_updates = rank.updates_untried = 0;
  }
  if (has_told) ++told_;
}

std::vector<double> RankSpeeds::estimates() const {
  std::vector<double> seconds;
  double least = std::numeric_limits<double>::infinity();
  for (const Rank& rank : ranks_) {
    seconds.push_back(rank.recent.empty() ? 0 : lower_median(rank.recent));
    if (!rank.recent.empty()) least = std::min(least, seconds.back());
  }
  std::ranges::replace(seconds, 0.0, least);
  return seconds;
}

std::vector<std::size_t> RankSpeeds::assign(std::span<const double> work) {
  const std::vector<double> now = estimates();
  if (in_use_.empty()) in_use_ = now;
  std::vector<std::size_t> owners = data::balanced_owners(in_use_, work);
  double seconds = data::finishing_seconds(owners, now, work);
  std::vector<std::size_t> better = data::balanced_owners(now, work);
  if (const double best = data::finishing_seconds(better, now, work);
      seconds > worth_moving * best) {
    in_use_ = now;
    owners = std::move(better);
    seconds = best;
  }
  const auto tried = candidate(now, owners, work, seconds);
  if (!tried) return owners;
  ranks_[*tried].updates_untried = 0;
  return data::balanced_owners(in_use_, work, tried);
}

// The one that has been idle for longest, of those that get no whole minibatch and may be tried.
std::optional<std::size_t> RankSpeeds::candidate(std::span<const double> estimates,
                                                 std::span<const std::size_t> owners,
                                                 std::span<const double> work,
                                                 double seconds) const {
  const auto is_whole = [](double part) { return part >= 1; };
  if (std::ranges::none_of(work, is_whole)) return std::nullopt;
  std::vector<bool> learns(ranks_.size());  // a short minibatch would tell nothing
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (is_whole(work[i])) learns[owners[i]] = true;
  }
  std::optional<std::size_t> longest;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    const double cost = estimates[i] - seconds;  // for which the others wait longer, then
    const double budget = trial_budget * static_cast<double>(rank.idle_updates) * seconds;
    if (rank.updates_untried < updates_before_trial || cost > budget) continue;
    if (learns[i]) continue;
    if (!longest || ranks_[*longest].idle_updates < rank.idle_updates) longest = i;
  }
  return longest;
}

}  // namespace rubato::runtime
