// The batch size of an adaptive run: decided now and then from what its updates told, written down
// as a trace, the same on every rank.
//
// Decisions are considered after updates 32, 64, 128, ... and at ends of epochs eight updates or
// more after the last one; rank 0 considers, since what it goes by are times, and tells the others.
// Only where a decision must be made, because the run goes on on other ranks, may it end an epoch
// early: elsewhere one that does not fit into what the epoch has left waits for its end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectives/topology.hpp"
#include "data/trace_plan.hpp"
#include "optim/gradient_noise.hpp"
#include "runtime/batch_advisor.hpp"
#include "runtime/batch_decisions.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/run_options.hpp"
#include "runtime/step_report.hpp"

namespace rubato::runtime {

// Why a row begins an epoch.
inline constexpr const char* epoch_left_early = "an epoch was left early";
inline constexpr const char* statistical_epoch_ended = "a statistical epoch ended";

class AdaptiveBatch {
 public:
  // A run on the ranks of `topology` begins with the smallest batch that is not below the initial
  // one. `limits`: the options' own, for the data set; `reference_batch`: that of the optimizer's
  // noise estimate. Throws as BatchAdvisor.
  AdaptiveBatch(const RunOptions& options, const optim::BatchLimits& limits,
                const collectives::Topology& topology, double reference_batch);

  // What was decided so far.
  data::BatchTrace trace() const { return decisions_.trace(); }
  const std::string& decisions() const noexcept { return decisions_.text(); }
  std::uint64_t largest_minibatch() const;  // samples; none that may be chosen has more

  // Collective, before the first update: finds out how a minibatch's time grows with its size.
  // `seconds_of` runs one of so many samples on this rank, and forgets it.
  void try_minibatches(const std::function<double(std::uint64_t)>& seconds_of);

  // After an update to be run next: the same on all ranks.
  bool is_decision_due(const data::PlannedUpdate& update) const;
  // Takes in an update that was run, and adds to its report what it was worth.
  void observe(const data::PlannedUpdate& update, StepReport& report);

  // Collective. Considers the batch size from the cursor on; `noise`: the optimizer's, by now.
  // Under drop `room` is what the epoch has left. Whether trace() has one more row now, in which
  // `besides` is told, too.
  bool decide(const data::Cursor& cursor, std::optional<std::uint64_t> room,
              const optim::GradientNoise& noise, const std::string& besides = {});
  // The same for a plan of this trace, which then has the row, too.
  void decide(const data::Cursor& cursor, std::optional<data::TracePlan>& plan,
              const optim::GradientNoise& noise, const std::string& besides = {});
  // The batch stays, and an epoch begins at the cursor: adds a row that says why, to the plan too.
  DecisionReport begin_epoch(const data::Cursor& cursor, std::optional<data::TracePlan>& plan,
                             const std::string& reason);
  // What rank 0 considered in the last decide(), if anything.
  std::optional<DecisionReport> take_report();

  // For a checkpoint, and from one. A run that has come to other ranks or hosts than the batch was
  // decided for, or whose limits leave it out, then has to decide() before it goes on:
  // needs_decision(); what was decided at the checkpoint's update, but has held for none, is
  // forgotten then. Throws data::ContentError.
  std::vector<ContextEntry> entries() const;
  void restore(const Checkpoint& checkpoint);
  bool needs_decision() const noexcept { return !must_decide_because_.empty(); }

 private:
  optim::NoiseLevel level(double variance, double square) const;
  std::string consider(const data::Cursor& cursor, std::optional<std::uint64_t> room,
                       const optim::GradientNoise& noise);
  void begin_anew();
  void follow_trace();
  void note_ranks();

  const collectives::Topology& topology_;
  double budget_;
  double noise_factor_;  // from the optimizer's reference batch to the initial one
  BatchAdvisor advisor_;
  BatchDecisions decisions_;
  optim::Configuration current_;
  std::size_t hosts_ = 0;  // that it was decided for
  std::size_t ranks_ = 0;
  double predicted_goodput_ = 0;
  std::uint64_t updates_since_ = 0;  // the last decide()
  double seconds_since_ = 0;         // that updates took since something was considered
  double decision_seconds_ = 0;      // that it took
  bool skips_next_ = true;  // the first update, and the first after a decision: data come late
  std::string must_decide_because_;
  std::optional<DecisionReport> report_;
};

}  // namespace rubato::runtime
