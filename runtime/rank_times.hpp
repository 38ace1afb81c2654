// How long each rank computed in an update, as every rank knows it after the update's sum, and what
// that says of waiting.
//
// Only durations travel, so clocks of different hosts need not agree. Times of whole minibatches
// are told apart: a short one takes another time a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optim/gradient_sync.hpp"

namespace rubato::runtime {

// Of one rank in one update, all of its substeps: waiting for data, forward, backward,
// accumulation.
struct RankTime {
  double busy_seconds = 0;
  double whole_seconds = 0;  // of these on whole minibatches
  double whole_minibatches = 0;
  bool operator==(const RankTime&) const = default;
};

optim::RankNote note_of(const RankTime& time);
std::vector<RankTime> rank_times(std::span<const optim::RankNote> notes);

// max / mean - 1 of the busy seconds: by how much the slowest rank exceeds a perfect share. 0 where
// no rank was busy.
double imbalance(std::span<const RankTime> times);

// A clock in seconds that only moves on.
using SecondsClock = std::function<double()>;

// Measures this rank's substeps.
class SubstepTimer {
 public:
  explicit SubstepTimer(SecondsClock clock = {});  // none given: the steady clock
  void begin();                                    // the first substep begins
  void take(bool is_whole);  // a substep has ended, on a whole minibatch or a short one; the next
                             // one begins
  const RankTime& time() const noexcept { return time_; }  // since begin()

 private:
  SecondsClock clock_;
  double last_ = 0;
  RankTime time_;
};

// A rank that held the others up.
struct SlowRank {
  std::size_t rank = 0;
  std::string host;
  double ratio = 0;  // of its time for a minibatch to the others' median
};

// As the JSON library calls it to make a value of one.
template <class Json>
void to_json(Json& json, const SlowRank& slow) {
  json = {{"rank", slow.rank}, {"host", slow.host}, {"ratio", slow.ratio}};
}

// The waiting of a whole run.
class WaitingTotals {
 public:
  explicit WaitingTotals(std::size_t ranks) : totals_(ranks) {}

  void add(std::span<const RankTime> times, double update_seconds);

  // What each rank waited for the one whose substeps took longest in an update, over all updates.
  std::vector<double> seconds() const;
  // The mean of these, of the updates' time.
  double share() const;
  // The slowest rank, where it stands out, and the run was long enough to tell (straggler.hpp);
  // with its host, if the ranks' are given.
  std::optional<SlowRank> slow_rank(std::span<const std::string> hosts = {}) const;

 private:
  std::uint64_t updates_ = 0;
  double longest_ = 0;  // the sum over updates of the longest busy time
  double update_seconds_ = 0;
  std::vector<RankTime> totals_;  // of each rank, over all updates
};

}  // namespace rubato::runtime
