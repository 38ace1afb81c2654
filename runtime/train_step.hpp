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
#include "runtime/replica.hpp"
#include "runtime/step_report.hpp"

namespace rubato::runtime {

class TrainStep {
 public:
  struct Options {
    data::Assignment assignment = data::Assignment::blocked;
    std::uint64_t epoch_samples = 0;  // samples that an epoch gives, to tell the position in it
    std::vector<std::string> shadow_rules =
        {};  // rules whose rate is reported beside the chosen one
  };

  TrainStep(const collectives::Topology& topology, Replica& replica, data::Prefetcher& loader,
            optim::GradientSync& sync, optim::ElasticOptimizer& optimizer, Options options);

  // Collective. Carries out `update`, and has the data of the one after it (or none) prepared
  // meanwhile. Throws RunError on all ranks alike; the weights are then those
  // before the update.
  StepReport run(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming);

 private:
  std::vector<data::Minibatch> minibatches_of_mine(const data::PlannedUpdate& update) const;
  void prepare_data(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming);
  void run_substeps(const data::PlannedUpdate& update);
  optim::UpdateSums sum_over_ranks(const data::PlannedUpdate& update);

  const collectives::Topology& topology_;
  Replica& replica_;
  data::Prefetcher& loader_;
  optim::GradientSync& sync_;
  optim::ElasticOptimizer& optimizer_;
  Options options_;
  bool is_prefetched_ = false;  // the data of the next update is queued already
};

}  // namespace rubato::runtime
