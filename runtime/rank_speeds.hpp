// How long each rank takes for a whole minibatch, learned from one update after another, and the
// minibatches that each one gets for it. The same numbers go in on all ranks, so the same
// assignment comes out: nothing is exchanged for it.
//
// * An estimate is the median of the rank's last five updates with a whole minibatch: one slow
//   outlier, or two, change nothing; a rank that has really become slower is known after three.
// * An assignment follows the estimates only where it gains more than 3 %: noise moves nothing.
// * A rank without a whole minibatch keeps its estimate. After 16 such updates it is tried again
//   with one, as soon as the time that this may cost is at most 1 % of the time since: so a rank
//   that has recovered comes back, and a hopeless one costs little. What a trial finds is believed
//   at once. Of a rank never seen the best is assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/rank_times.hpp"

namespace rubato::runtime {

class RankSpeeds {
 public:
  explicit RankSpeeds(std::size_t ranks) : ranks_(ranks) {}

  // Of one update with whole minibatches of so many samples, one for each rank. They may change
  // their size, so ranks are compared by the time that a sample takes.
  void learn(std::span<const RankTime> times, std::uint64_t minibatch);

  // False until three updates have told something: nothing can be assigned by speed yet.
  bool are_known() const noexcept { return told_ >= 3; }

  // The rank of each minibatch of the next update to be planned (data/substep_plan.hpp).
  // Precondition: are_known().
  std::vector<std::size_t> assign(std::span<const double> work);

  // Of each rank, what it takes for a sample of a whole minibatch, in the unit of the times.
  // Precondition: are_known().
  std::vector<double> estimates() const;

 private:
  struct Rank {
    std::vector<double> recent;         // seconds for a sample of them, the latest last
    std::uint64_t idle_updates = 0;     // since it had one
    std::uint64_t updates_untried = 0;  // since it had one or was to be tried
  };
  // The rank to be tried, if any, when `owners` of the work are done after so many seconds.
  std::optional<std::size_t> candidate(std::span<const double> estimates,
                                       std::span<const std::size_t> owners,
                                       std::span<const double> work, double seconds) const;

  std::vector<Rank> ranks_;
  std::vector<double> in_use_;  // the estimates that assignments follow
  std::uint64_t told_ = 0;
};

}  // namespace rubato::runtime
