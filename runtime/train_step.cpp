// One update, as data flows:
//
//   1 plan        which of the update's minibatches are mine
//   2 substeps    each of them forward and backward: loss, gradient sum over its samples
//   3 accumulate  gradients into an order-free partial sum
//   4 sum         partial sums and scalars over all ranks: the mean gradient, the update's facts
//   5 rate        facts and position to a learning rate
//   6 update      parameters, slice by slice, by their owners
//   7 report      what there is to say about it
//
// Nothing outside this call changes before phase 5, so that phases 2-4 can be run again when the
// units of the exact sum must change, with the same samples and the same random numbers.
#include "runtime/train_step.hpp"

#include <chrono>
#include <utility>

#include "optim/slice_update.hpp"
#include "runtime/errors.hpp"

namespace rubato::runtime {

TrainStep::TrainStep(const collectives::Topology& topology, Replica& replica,
                     data::Prefetcher& loader, optim::GradientSync& sync,
                     optim::ElasticOptimizer& optimizer, Options options)
    : topology_(topology),
      replica_(replica),
      loader_(loader),
      sync_(sync),
      optimizer_(optimizer),
      options_(std::move(options)) {}

StepReport TrainStep::run(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming) {
  const auto start = std::chrono::steady_clock::now();
  prepare_data(update, upcoming);

  run_substeps(update);
  optim::UpdateSums sums = sum_over_ranks(update);
  const bool is_repeated = !sums.stands;
  while (!sums.stands) {
    sync_.barrier();
    loader_.clear();
    is_prefetched_ = false;
    prepare_data(update, upcoming);
    run_substeps(update);
    sums = sum_over_ranks(update);
  }

  const double epoch_fraction =
      static_cast<double>(update.begin.position) / static_cast<double>(options_.epoch_samples);
  const optim::Position position{.update = static_cast<double>(update.begin.update),
                                 .sample = static_cast<double>(update.begin.samples),
                                 .epoch = static_cast<double>(update.begin.epoch) + epoch_fraction,
                                 .progress = optimizer_.progress()};
  const auto decision = optimizer_.decide(sums.gradient, position);

  optimizer_.inner().begin_update(decision.rate);
  optim::update_my_slice(optimizer_.inner(), sync_, update.minibatches.size(), replica_.shared());
  sync_.barrier();
  replica_.use_new_weights();

  StepReport report = step_report(update, sums, decision, optimizer_, options_.shadow_rules);
  report.epochs_done =
      static_cast<double>(update.end.epoch) +
      static_cast<double>(update.end.position) / static_cast<double>(options_.epoch_samples);
  report.was_repeated = is_repeated;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::vector<data::Minibatch> TrainStep::minibatches_of_mine(
    const data::PlannedUpdate& update) const {
  std::vector<data::Minibatch> mine;
  for (std::size_t slot : data::substeps_of(options_.assignment, topology_.all().rank(),
                                            topology_.all().size(), update.minibatches.size())) {
    mine.push_back(update.minibatches[slot]);
  }
  return mine;
}

void TrainStep::prepare_data(const data::PlannedUpdate& update,
                             const data::PlannedUpdate* upcoming) {
  if (!is_prefetched_) loader_.request(minibatches_of_mine(update));
  if (upcoming != nullptr) loader_.request(minibatches_of_mine(*upcoming));
  is_prefetched_ = upcoming != nullptr;
}

void TrainStep::run_substeps(const data::PlannedUpdate& update) {
  sync_.begin(update.minibatches.size());
  for (std::size_t slot : data::substeps_of(options_.assignment, topology_.all().rank(),
                                            topology_.all().size(), update.minibatches.size())) {
    const data::Minibatch& minibatch = update.minibatches[slot];
    const nn::MinibatchLoss loss = replica_.run(loader_.next());
    sync_.accumulate({slot, minibatch.size, loss.loss_sum, loss.correct}, replica_.gradient());
  }
}

optim::UpdateSums TrainStep::sum_over_ranks(const data::PlannedUpdate& update) {
  try {
    return sync_.sum(update.batch_size);
  } catch (const optim::NonFiniteGradient& error) {
    throw RunError("update " + std::to_string(update.end.update) + ": " + error.what());
  }
}

}  // namespace rubato::runtime
