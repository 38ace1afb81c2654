// One update of the global batch, from plan to report. The .cpp is the program's story: read it top
// to bottom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/topology.hpp"
#include "data/prefetcher.hpp"
#include "data/substep_plan.hpp"
#include "data/trace_plan.hpp"
#include "optim/elastic_optimizer.hpp"
#include "optim/gradient_sync.hpp"
#include "runtime/heartbeat.hpp"
#include "runtime/rank_times.hpp"
#include "runtime/replica.hpp"
#include "runtime/sample_audit.hpp"
#include "runtime/step_report.hpp"
#include "runtime/used_memory.hpp"
#include "runtime/work_share.hpp"

namespace rubato::runtime {

class TrainStep {
 public:
  struct Options {
    data::Assignment assignment = data::Assignment::blocked;
    std::uint64_t epoch_samples = 0;  // samples that an epoch gives, to tell the position in it
    std::vector<std::string> shadow_rules =
        {};                          // rules whose rate is reported beside the chosen one
    bool skips_nonfinite = false;    // leave an update out, instead of failing, where its loss or
                                     // gradient is not finite
    Heartbeat* heartbeat = nullptr;  // told what this rank is doing, for a watchdog
    SecondsClock clock = {};         // that substeps are measured by; none: the steady clock
  };

  // Collective: has the sync measure what the optimizer wants to know. The replica may compute with
  // weights that this holds: one that is used when this is gone must be told use_new_weights().
  TrainStep(const collectives::Topology& topology, Replica& replica, data::Prefetcher& loader,
            optim::GradientSync& sync, optim::ElasticOptimizer& optimizer, Options options);

  // Collective. Carries out `update`, and has the data of the one after it (or none) prepared
  // meanwhile. `request` is a number of this rank's; the largest of all ranks comes back in the
  // report. Throws RunError on all ranks alike; the weights are then those before the update.
  StepReport run(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming,
                 std::uint64_t request = 0);

  // Runs a minibatch of so many samples forward and backward, the first ones of the order, and
  // leaves nothing behind: how long this rank took, in seconds. Before the first update.
  double seconds_of(std::uint64_t samples);

  // The update whose data were being prepared does not come next. Before run() with another one.
  void forget_upcoming();

  // Of all samples that updates have used so far.
  SampleAudit& audit() noexcept { return audit_; }

 private:
  void beat(const data::PlannedUpdate& update, Phase phase) const;
  void prepare_data(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming);
  WorkShare::Minibatches share_of(const data::PlannedUpdate& update);
  void request_mine(const data::PlannedUpdate& update, const std::vector<std::size_t>& slots);
  void run_substeps(const data::PlannedUpdate& update);
  std::span<const optim::MinibatchRun> runs_of(const data::PlannedUpdate& update);
  nn::IsFinalFrom sum_early();
  nn::TakeFactors send_factors();
  struct Summed {
    optim::UpdateSums sums;
    bool was_repeated = false;
  };
  Summed sum_gradients(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming,
                       std::uint64_t request);
  optim::UpdateSums sum(const data::PlannedUpdate& update, std::uint64_t request);
  StepReport apply(const data::PlannedUpdate& update, const optim::UpdateSums& sums);
  optim::Position position_of(const data::PlannedUpdate& update) const;
  void take_times(const data::PlannedUpdate& update, StepReport& report);
  void take_audits(const data::PlannedUpdate& update, StepReport& report);

  Replica& replica_;
  data::Prefetcher& loader_;
  optim::GradientSync& sync_;
  optim::ElasticOptimizer& optimizer_;
  Options options_;
  optim::SliceUpdate slice_update_;
  SampleAudit audit_;
  WorkShare share_;
  SubstepTimer timer_;
  WorkShare::Minibatches mine_;             // in the update that runs
  WorkShare::Minibatches next_mine_;        // and in the next one, if
  bool is_prefetched_ = false;              // its data are queued already
  std::vector<data::Minibatch> requested_;  // in one call of request_mine()
  std::vector<optim::MinibatchRun> runs_;   // of the update that runs
  bool has_begun_ = false;                  // an update was run
  UsedMemory used_memory_;                  // by now, in huge pages
};

}  // namespace rubato::runtime
