// Which batch size is best now: learns from a run's updates how long they take, and asks the
// goodput (optim/goodput.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "data/trace_plan.hpp"
#include "optim/goodput.hpp"
#include "runtime/rank_speeds.hpp"
#include "runtime/rank_times.hpp"
#include "runtime/update_profile.hpp"

namespace rubato::runtime {

class BatchAdvisor {
 public:
  // `shared_by_speed`: minibatches go to the rank that is done first. Throws std::invalid_argument,
  // in one sentence, where no batch is within the limits on so many ranks: it says how many ranks
  // would do.
  BatchAdvisor(const optim::BatchLimits& limits, std::size_t hosts, std::size_t ranks,
               bool shared_by_speed);

  // Two sizes of minibatches, ascending, whose times tell how a substep's grows with its size: the
  // one in use, or the largest if that was chosen on other ranks and is too large for these, and
  // another that may be chosen. None where there is no other.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> sizes_to_try(std::uint64_t in_use) const;
  // What a substep was found to take longer for one more sample: counts until updates with
  // minibatches of several sizes were observed.
  void know_seconds_per_sample(double seconds) { seconds_per_sample_ = seconds; }

  // Takes in how long an update took. One of another size than `current` tells nothing (the last
  // one of an epoch, or of the run).
  void observe(const data::PlannedUpdate& update, const optim::Configuration& current,
               std::span<const RankTime> times, double seconds);

  struct Advice {
    optim::Choice choice;
    double current_goodput = 0;  // predicted; 0 if the limits do not allow the current batch
  };
  // `current` or what is better by more than the hysteresis; nothing while nothing was measured.
  std::optional<Advice> advise(const optim::NoiseLevel& noise, const optim::Configuration& current);

  const optim::BatchLimits& limits() const noexcept { return limits_; }
  const optim::Configuration& initial() const noexcept { return initial_; }
  UpdateProfile& profile() noexcept { return profile_; }
  // The same with what was observed since the last advice.
  UpdateProfile settled_profile() const;

 private:
  void settle(UpdateProfile& profile) const;
  optim::Allocation allocation() const;

  optim::BatchLimits limits_;
  std::size_t hosts_;
  std::size_t ranks_;
  bool shared_by_speed_;
  optim::Configuration initial_;
  std::optional<double> seconds_per_sample_;
  RankSpeeds speeds_;
  UpdateProfile profile_;
};

// The smallest batch that is not below the initial one. Throws as the constructor above; the
// sentence begins with `where`, who set the limits.
optim::Configuration initial_batch(const optim::BatchLimits& limits, std::size_t ranks,
                                   const std::string& where = "--adaptive");

// The limits where no batch may have more than `samples`, if given: a maximum, unless all batches
// that the limits allow on so many ranks have less.
optim::BatchLimits limits_within(optim::BatchLimits limits, std::optional<std::uint64_t> samples,
                                 std::size_t ranks);

// Samples: no minibatch that the limits allow has more.
std::uint64_t largest_minibatch(const optim::BatchLimits& limits, std::size_t ranks);

// On how many ranks, of so many at most, the limits within `samples` can be met; 0: on none.
std::size_t most_ranks_within(const optim::BatchLimits& limits, std::size_t ranks,
                              std::optional<std::uint64_t> samples = {});

}  // namespace rubato::runtime
