// Sums, and a clock.
#include "runtime/rank_times.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/straggler.hpp"

namespace rubato::runtime {

namespace {

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

struct Busy {
  double mean = 0;
  double most = 0;
};

Busy busy(std::span<const RankTime> times) {
  Busy result;
  for (const RankTime& time : times) {
    result.mean += time.busy_seconds / static_cast<double>(times.size());
    result.most = std::max(result.most, time.busy_seconds);
  }
  return result;
}

}  // namespace

optim::RankNote note_of(const RankTime& time) {
  return {time.busy_seconds, time.whole_seconds, time.whole_minibatches};
}

std::vector<RankTime> rank_times(std::span<const optim::RankNote> notes) {
  std::vector<RankTime> times;
  times.reserve(notes.size());
  for (const optim::RankNote& note : notes) times.push_back({note[0], note[1], note[2]});
  return times;
}

double imbalance(std::span<const RankTime> times) {
  const Busy ranks = busy(times);
  return ranks.mean > 0 ? ranks.most / ranks.mean - 1 : 0;
}

SubstepTimer::SubstepTimer(SecondsClock clock)
    : clock_(clock ? std::move(clock) : SecondsClock(steady_seconds)) {}

void SubstepTimer::begin() {
  time_ = {};
  last_ = clock_();
}

void SubstepTimer::take(bool is_whole) {
  const double now = clock_();
  const double spent = now - std::exchange(last_, now);
  time_.busy_seconds += spent;
  if (!is_whole) return;
  time_.whole_seconds += spent;
  ++time_.whole_minibatches;
}

void WaitingTotals::add(std::span<const RankTime> times, double update_seconds) {
  ++updates_;
  longest_ += busy(times).most;
  update_seconds_ += update_seconds;
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    totals_[rank].busy_seconds += times[rank].busy_seconds;
    totals_[rank].whole_seconds += times[rank].whole_seconds;
    totals_[rank].whole_minibatches += times[rank].whole_minibatches;
  }
}

std::vector<double> WaitingTotals::seconds() const {
  std::vector<double> seconds;
  for (const RankTime& total : totals_) seconds.push_back(longest_ - total.busy_seconds);
  return seconds;
}

double WaitingTotals::share() const {
  return update_seconds_ > 0 ? (longest_ - busy(totals_).mean) / update_seconds_ : 0;
}

std::optional<SlowRank> WaitingTotals::slow_rank(std::span<const std::string> hosts) const {
  if (updates_ < telling_updates || update_seconds_ < telling_seconds) return std::nullopt;
  std::vector<double> seconds;
  for (const RankTime& whole : totals_) {
    const bool has_run = whole.whole_minibatches > 0;
    seconds.push_back(has_run ? whole.whole_seconds / whole.whole_minibatches : 0);
  }
  const std::vector<double> ratios = ratios_to_others(seconds);
  const auto slowest = std::ranges::max_element(ratios);
  if (slowest == ratios.end() || *slowest <= straggling) return std::nullopt;
  const auto rank = static_cast<std::size_t>(slowest - ratios.begin());
  return SlowRank{rank, rank < hosts.size() ? hosts[rank] : std::string(), *slowest};
}

}  // namespace rubato::runtime
