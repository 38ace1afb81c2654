// The model of a job, trained data-parallel: one call a batch.
//
//   runtime::AdaptiveDataParallel model(nn::make_model(...), {.name = "sgd", .momentum = 0.9},
//                                       optim::LearningRateSchedule({.base_rate = 0.05}),
//                                       {.rule = "adascale"});
//   for (auto& batch : train) {
//     const runtime::StepReport report = model.train(batch);  // forward, backward, sum, update
//   }
//   for (auto& batch : test) correct += model.evaluate(batch).correct;  // of this rank's share
//
// A schedule counts in updates, samples, passes over the data ("epoch"), or progress, as
// optim/learning_rate_schedule.hpp says; epochs of a job are not counted, since statistical ones
// may end anywhere in a pass. Progress is in updates of the reference batch: that one goes on in
// the same way whatever the batch sizes are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/model.hpp"
#include "optim/elastic_optimizer.hpp"
#include "optim/gradient_sync.hpp"
#include "runtime/exact_sum.hpp"
#include "runtime/loader_loop.hpp"
#include "runtime/replica.hpp"
#include "runtime/state_transfer.hpp"
#include "runtime/step_report.hpp"
#include "runtime/train_step.hpp"

namespace rubato::runtime {

class Job;

struct ModelOptions {
  std::string rule = "adascale";               // optim/scaling_rules.hpp
  std::optional<double> reference_batch = {};  // default: the training loader's batch_size
  double clip_norm = 0;                        // limit of the mean gradient's norm; 0: none
  std::optional<double> legw_warmup = {};      // legw: passes of warm-up at the reference batch
  optim::SingleMinibatch single_minibatch = optim::SingleMinibatch::hold;
  optim::NoiseMetric noise_metric = optim::NoiseMetric::automatic;
  bool measures_tensors = false;  // StepReport::tensor_noise: the noise scale of each tensor
  std::vector<std::string> shadow_rules = {};
};

// Of this rank's share of a batch; sums that do not show how it was shared.
struct Evaluation {
  ExactSum loss_sum;
  std::uint64_t correct = 0;
  std::uint64_t samples = 0;
};

class AdaptiveDataParallel {
 public:
  // Collective. Throws std::logic_error without a Job, or when that has begun. Wrong options fail
  // on all ranks (collectives::AgreedFailure, exit code 64).
  AdaptiveDataParallel(std::unique_ptr<nn::Model> model, const optim::OptimizerOptions& optimizer,
                       optim::LearningRateSchedule schedule, ModelOptions options = {});
  AdaptiveDataParallel(const AdaptiveDataParallel&) = delete;
  AdaptiveDataParallel& operator=(const AdaptiveDataParallel&) = delete;
  ~AdaptiveDataParallel();

  // Collective. One update from a batch in hand of the loader that trains, each once. Throws
  // std::logic_error for any other batch; what ends training (numbers that are not finite) ends it
  // on all ranks.
  StepReport train(Batch& batch);
  // This rank's share, by the weights as they are. Not collective.
  Evaluation evaluate(Batch& batch);

  double gain() const;  // of the update last made: what it was worth, in reference updates
  // What an update of `scale` times the reference batch would be worth, by the noise as it is
  // known.
  double predict_gain(double scale) const;
  double progress() const;  // the sum of the gains

  // For the job and its parts.
  const nn::Layout& layout() const;
  std::string description() const;  // of what decides the result
  double reference_batch(const AdaptiveDataLoader& loader) const;
  double reference_batch() const;
  const optim::GradientNoise& noise() const { return optimizer_->noise(); }
  void prepare(AdaptiveDataLoader& loader);  // not collective
  void assemble();                           // collective
  void try_minibatches();  // collective, before the first update: for the loader's choices
  StateParts parts() const;

 private:
  Job& job_;
  optim::OptimizerOptions inner_;
  optim::LearningRateSchedule schedule_;
  ModelOptions options_;
  std::unique_ptr<nn::Model> model_;  // until the replica takes it
  AdaptiveDataLoader* loader_ = nullptr;
  std::unique_ptr<optim::ElasticOptimizer> optimizer_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<data::Prefetcher> prefetcher_;
  std::unique_ptr<optim::GradientSync> sync_;
  std::unique_ptr<TrainStep> step_;
  std::optional<data::Cursor> prepared_;  // where the update begins whose data are prepared
};

}  // namespace rubato::runtime
