// See adaptive_data_parallel.hpp.
#include "runtime/adaptive_data_parallel.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

#include "optim/scaling_rules.hpp"
#include "runtime/adaptive_data_loader.hpp"
#include "runtime/errors.hpp"
#include "runtime/job.hpp"
#include "runtime/rule_options.hpp"

namespace rubato::runtime {

AdaptiveDataParallel::AdaptiveDataParallel(std::unique_ptr<nn::Model> model,
                                           const optim::OptimizerOptions& optimizer,
                                           optim::LearningRateSchedule schedule,
                                           ModelOptions options)
    : job_(Job::current("AdaptiveDataParallel")),
      inner_(optimizer),
      schedule_(std::move(schedule)),
      options_(std::move(options)),
      model_(std::move(model)) {
  job_.agree([this] {
    if (model_ == nullptr) throw std::invalid_argument("AdaptiveDataParallel: found no model");
    optim::require_rule_fits(options_.rule, inner_.name);
    optim::make_elastic_optimizer(
        options_.rule, optim::make_optimizer<float>(inner_), schedule_,
        elastic_options(options_, layout(), options_.reference_batch.value_or(1), 1));
  });
  job_.add(*this);
}

AdaptiveDataParallel::~AdaptiveDataParallel() { job_.remove(*this); }

const nn::Layout& AdaptiveDataParallel::layout() const {
  return replica_ ? replica_->layout() : model_->layout();
}

std::string AdaptiveDataParallel::description() const {
  const auto& [name, momentum, form, nesterov, decay, beta1, beta2, epsilon, rho, lars, trust] =
      inner_;
  const optim::ScheduleOptions& schedule = schedule_.options();
  std::ostringstream text;
  text.precision(17);
  text << "rule " << options_.rule << ", reference batch " << reference_batch() << ", clip "
       << options_.clip_norm << ", legw warm-up " << options_.legw_warmup.value_or(0)
       << ", single minibatch " << static_cast<int>(options_.single_minibatch) << ", noise metric "
       << static_cast<int>(options_.noise_metric) << "; " << name << " " << momentum << " "
       << static_cast<int>(form) << " " << nesterov << " " << decay << " " << beta1 << " " << beta2
       << " " << epsilon << " " << rho << " " << static_cast<int>(lars) << " " << trust << "; "
       << schedule.name << " of " << static_cast<int>(schedule.unit) << " " << schedule.base_rate
       << " " << schedule.gamma << " " << schedule.step_size << " " << schedule.span << " "
       << schedule.end_rate << " " << schedule.power << " " << schedule.warmup_span << " "
       << schedule.warmup_start << " " << schedule.warmup_multiplier << " "
       << static_cast<int>(schedule.polynomial_form);
  for (const double milestone : schedule.milestones) text << " " << milestone;
  if (options_.measures_tensors) text << "; noise of each tensor";
  return text.str();
}

double AdaptiveDataParallel::reference_batch(const AdaptiveDataLoader& loader) const {
  return options_.reference_batch.value_or(static_cast<double>(loader.options().batch_size));
}

double AdaptiveDataParallel::reference_batch() const { return reference_batch(*loader_); }

void AdaptiveDataParallel::prepare(AdaptiveDataLoader& loader) {
  const bool follows = options_.rule != "constant" || inner_.name == "adadelta";
  if (loader.is_autoscaled() && !follows) {
    throw std::invalid_argument(
        "autoscale_batch_size(): rule constant leaves the learning rate as it is, so larger "
        "batches would come no further with an update; choose adascale, or another rule that "
        "follows the batch");
  }
  loader_ = &loader;
  const std::uint64_t epoch_samples = loader.plan().epoch_samples();
  schedule_.set_epochs(static_cast<double>(epoch_samples),
                       static_cast<double>(loader.options().batch_size), reference_batch());
  optimizer_ = optim::make_elastic_optimizer(
      options_.rule, optim::make_optimizer<float>(inner_), schedule_,
      elastic_options(options_, layout(), reference_batch(), epoch_samples));
}

void AdaptiveDataParallel::assemble() {
  const RunOptions& run = job_.run();
  const collectives::Topology& topology = job_.topology();
  replica_ =
      std::make_unique<Replica>(topology, std::move(model_), optimizer_->state_names(), run.seed);
  prefetcher_ = std::make_unique<data::Prefetcher>(loader_->dataset(), loader_->order(), run.seed,
                                                   loader_->largest_minibatch());
  sync_ = make_gradient_sync(topology, replica_->layout(), run.sum, run.allreduce);
  sync_->reserve(loader_->plan().most_minibatches());
  TrainStep::Options step{.assignment = run.assignment,
                          .epoch_samples = loader_->plan().epoch_samples(),
                          .shadow_rules = options_.shadow_rules};
  step_ = std::make_unique<TrainStep>(topology, *replica_, *prefetcher_, *sync_, *optimizer_,
                                      std::move(step));
}

void AdaptiveDataParallel::try_minibatches() {
  loader_->try_minibatches([this](std::uint64_t samples) { return step_->seconds_of(samples); });
}

StateParts AdaptiveDataParallel::parts() const {
  return {job_.run().seed, *replica_, *optimizer_, *sync_, loader_->cursor(), step_->audit()};
}

StepReport AdaptiveDataParallel::train(Batch& batch) {
  AdaptiveDataLoader& loader = batch.loader();
  if (&loader != loader_) {
    throw std::logic_error(
        "model.train(): the batch is of a loader that only evaluates; the one that trains chooses "
        "its batch sizes, or is the first one made");
  }
  if (batch.wishes()) {
    throw std::logic_error(
        "model.train(): the batch has been trained on already; take the next one");
  }
  const data::PlannedUpdate& update = batch.update();
  if (prepared_ != update.begin) step_->forget_upcoming();
  const data::PlannedUpdate* const upcoming = loader.upcoming(update);
  prepared_ = upcoming == nullptr ? std::nullopt : std::optional(upcoming->begin);
  StepReport report;
  try {
    report = step_->run(update, upcoming, job_.wish(update.end));
  } catch (const RunError&) {  // the same on every rank
    job_.fail_together();
  }
  loader.trained(update, report);
  batch.was_trained(report.request);
  job_.tell(report);
  return report;
}

Evaluation AdaptiveDataParallel::evaluate(Batch& batch) {
  Evaluation result;
  for (const data::LoadedMinibatch& minibatch : batch) {
    const nn::MinibatchLoss loss = replica_->model().evaluate(minibatch.inputs, minibatch.labels);
    result.loss_sum += loss.loss_sum;
    result.correct += loss.correct;
    result.samples += minibatch.labels.size();
  }
  return result;
}

double AdaptiveDataParallel::gain() const { return optimizer_ ? optimizer_->gain() : 1; }

double AdaptiveDataParallel::predict_gain(double scale) const {
  return optimizer_ ? optimizer_->predict_gain(scale) : 1;
}

double AdaptiveDataParallel::progress() const { return optimizer_ ? optimizer_->progress() : 0; }

}  // namespace rubato::runtime
