// What one update and one evaluation have to say: plain facts, for metrics and progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/trace_plan.hpp"
#include "optim/elastic_optimizer.hpp"
#include "optim/gradient_sync.hpp"
#include "runtime/batch_decisions.hpp"
#include "runtime/rank_times.hpp"
#include "runtime/sample_audit.hpp"

namespace rubato::runtime {

struct ShadowRate {
  std::string rule;
  double rate;
};

struct TensorNoise {
  std::string tensor;
  double noise_scale;  // samples
};

struct StepReport {
  std::uint64_t update = 0;  // updates done, this one included
  std::uint64_t epoch = 0;   // in which the update began
  double epochs_done = 0;    // after it, with their fraction
  std::uint64_t batch_size = 0;
  std::uint64_t minibatch = 0;  // samples of one that is not short
  std::uint64_t substeps = 0;   // minibatches, over all ranks
  std::uint64_t samples = 0;    // used by all updates so far
  double learning_rate =
      0;  // effective: schedule x rule (times the gradient's scale for linear-momentum)
  double learning_rate_factor = 1;
  double gain = 1;
  double scaled_updates = 0;   // scale-invariant progress tau
  double loss = 0;             // mean over the update's samples
  double accuracy = 0;         // of the same samples, before the update
  double gradient_square = 0;  // averages of the noise estimate
  double gradient_variance = 0;
  double noise_scale = 0;               // samples
  optim::NoiseInterval noise_interval;  // of it, 95 %
  double efficiency = 1;                // gain / scale of this update
  std::optional<double> clip;           // what a limit on its norm left of the gradient
  std::vector<TensorNoise> tensor_noise;
  double seconds = 0;  // wall clock of the update
  double goodput = 0;  // of an adaptive run: samples of the initial batch's worth, per second
  double predicted_goodput = 0;  // the same, as the last decision foresaw it; 0: not yet
  double imbalance = 0;          // of the ranks' busy time: max / mean - 1
  std::vector<RankTime> rank_times;
  bool was_repeated = false;  // summed twice: the exact sum's units had to change
  std::string skipped;        // why the update was left out: what was not finite; empty: it was not
  std::uint64_t audit = 0;    // of all samples used so far, these included (sample_audit.hpp)
  std::vector<EpochAudit> finished_epochs;  // epochs that are over with this update
  std::uint64_t request = 0;                // the largest of the ranks' requests
  std::vector<ShadowRate> shadow_rates;
};

// What an adaptive run considered after an update.
struct DecisionReport {
  BatchDecision decision;
  bool changes = false;  // the batch size, or how it is cut
  double seconds = 0;    // that it took
};

struct EvaluationReport {
  std::uint64_t update = 0;
  double epoch = 0;  // with its fraction
  double progress = 0;
  double loss = 0;
  double accuracy = 0;
  std::uint64_t samples = 0;  // of the test set
  double seconds = 0;
};

// The report of an update just decided; what only the caller knows is left to be filled in.
StepReport step_report(const data::PlannedUpdate& update, const optim::UpdateSums& sums,
                       const optim::ElasticOptimizer::Decision& decision,
                       const optim::ElasticOptimizer& optimizer,
                       const std::vector<std::string>& shadow_rules);

// The report of an update that was left out: `reason` says why.
StepReport skipped_report(const data::PlannedUpdate& update,
                          const optim::ElasticOptimizer& optimizer, const std::string& reason);

}  // namespace rubato::runtime
