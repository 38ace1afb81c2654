// Setting up happens in an order that lets every failure be told once, by all ranks, before
// anything is written: inputs, agreement that all ranks hold the same, memory, output directory.
// Then updates, an evaluation whenever an epoch is complete, and a checkpoint after it: what a run
// goes on from, it need not evaluate again.
#include "runtime/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "collectives/agreement.hpp"
#include "data/errors.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"
#include "runtime/errors.hpp"
#include "runtime/run_context.hpp"
#include "runtime/run_output.hpp"

namespace rubato::runtime {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

data::BatchTrace open_trace(const RunOptions& options) {
  return options.trace_file.empty() ? data::BatchTrace::constant(options.batch_size)
                                    : data::BatchTrace::from_csv(options.trace_file);
}

// A constant batch that does not serve is a wrong option; a trace that does not, a wrong file.
data::TracePlan make_plan(const RunOptions& options, std::uint64_t samples) {
  const data::PlanOptions plan{.samples = samples,
                               .minibatch = options.minibatch,
                               .trace_end = options.trace_end,
                               .epoch_end = options.epoch_end,
                               .epochs = options.epochs,
                               .updates = options.updates};
  try {
    return data::TracePlan(open_trace(options), plan);
  } catch (const data::ContentError& error) {
    if (!options.trace_file.empty()) throw;
    throw std::invalid_argument(error.what());
  }
}

}  // namespace

Trainer::Trainer(const collectives::Communicator& world, RunOptions options,
                 const collectives::Explain& explain)
    : Trainer(world, options, explain,
              options.output ? open_run(world, *options.output, options.output_mode, explain)
                             : OpenedRun{}) {}

Trainer::Trainer(const collectives::Communicator& world, RunOptions options,
                 const collectives::Explain& explain, OpenedRun opened)
    : options_(std::move(options)),
      explain_(explain),
      directory_(std::move(opened.directory)),
      topology_(world),
      heartbeat_(topology_) {
  collectives::agree(
      topology_.all(), [this] { open_inputs(); }, explain_);
  require_same_everywhere();
  describe_run();
  replica_ = std::make_unique<Replica>(topology_, std::move(model_),
                                       optimizer_->inner().state_names(), options_.seed);
  loader_ = std::make_unique<data::Prefetcher>(source_.train, options_.order, options_.seed,
                                               options_.minibatch);
  const nn::Layout& layout = replica_->layout();
  sync_ = std::make_unique<optim::GradientSync>(
      topology_, tensor_ranges(layout), layout.parameter_elements(), layout.total_elements(),
      options_.sum, options_.allreduce);
  sync_->reserve(plan_->most_minibatches());
  step_ = std::make_unique<TrainStep>(
      topology_, *replica_, *loader_, *sync_, *optimizer_,
      TrainStep::Options{options_.assignment, plan_->epoch_samples(), options_.shadow_rules,
                         options_.skips_nonfinite, &heartbeat_});
  if (source_.test) evaluator_ = std::make_unique<Evaluator>(source_.test);
  if (opened.resume) go_on_from(*opened.resume);
}

Trainer::~Trainer() = default;

void Trainer::open_inputs() {
  nn::check_arithmetic();
  const nn::Backend backend = nn::backend(options_.backend);
  nn::select_kernels(backend, options_.isa);
  source_ = data::open_data(options_.data);
  plan_.emplace(make_plan(options_, source_.train->size()));
  if (!plan_->total_updates() && !options_.until_progress) {
    throw std::invalid_argument(
        "the run has no end: give --epochs, --updates or --until-progress, or a trace that ends");
  }
  const data::SampleShape shape = source_.train->shape();
  model_ = nn::make_model(options_.model, {shape.height, shape.width, shape.channels},
                          source_.train->classes(), backend);
  const double reference =
      options_.reference_batch.value_or(static_cast<double>(plan_->trace().batch_size(0)));
  optimizer_ = optim::make_elastic_optimizer(
      options_.rule, optim::make_optimizer<float>(options_.optimizer),
      optim::LearningRateSchedule(options_.schedule), optim::ElasticOptions{reference});
}

void Trainer::require_same_everywhere() {
  identity_ = run_identity(options_, source_, plan_->trace(), model_->layout());
  std::vector<collectives::NamedValue> values{{"the options", options_.configuration}};
  for (const ContextEntry& entry : identity_) values.push_back({entry.name, entry.value});
  collectives::require_same(topology_.all(), values);
}

void Trainer::describe_run() {
  facts_.model = options_.model;
  facts_.parameters = model_->layout().parameter_count();
  facts_.training_samples = source_.train->size();
  facts_.test_samples = source_.test ? source_.test->size() : 0;
  facts_.ranks = topology_.all().size();
  facts_.reference_batch = optimizer_->reference_batch();
  facts_.total_updates = plan_->total_updates();
  facts_.total_samples = plan_->total_samples();
  facts_.warnings = plan_->trace().warnings();
  facts_.context = run_context(options_, topology_, source_);
}

void Trainer::go_on_from(const ResumePoint& resume) {
  collectives::agree(
      topology_.all(),
      [&] {
        require_same_run(resume.checkpoint.identity, identity_, options_.accepts_other_kernels);
      },
      explain_);
  restore_state(resume.checkpoint.state, topology_, parts());
  was_finished_ = resume.was_finished;
  facts_.first_update = cursor_.update;
  facts_.resumed_from = resume.file;
  facts_.warnings.insert(facts_.warnings.end(), resume.skipped.begin(), resume.skipped.end());
}

bool Trainer::is_finished() const {
  return was_finished_ && (!plan_->next(cursor_) || has_reached_goal());
}

RunEnd Trainer::run(const std::vector<RunLog*>& logs) {
  std::optional<RunOutput> output;
  collectives::agree(
      topology_.all(),
      [&] {
        output.emplace(options_, directory_.get(),
                       topology_.all().rank() == 0 ? logs : std::vector<RunLog*>(), facts_,
                       RunOutput::Record{identity_, facts_.context}, plan_->trace());
        output->begin();
      },
      explain_);
  std::optional<Watchdog> watchdog;
  if (options_.watchdog) watchdog.emplace(heartbeat_, topology_, *options_.watchdog);
  try {
    return train(*output);
  } catch (const RunError&) {  // the same on every rank, as the next one
    fail(*output);
  } catch (const data::ContentError&) {
    fail(*output);
  }
}

void Trainer::fail(RunOutput& output) {
  const collectives::Failure failure = explain_(std::current_exception());
  output.failed(failure.message, failure.exit_code, cursor_);
  throw collectives::AgreedFailure(failure);
}

RunEnd Trainer::train(RunOutput& output) {
  output.checkpoint_if_due(parts());

  RunEnd end;
  const std::uint64_t samples_before = cursor_.samples;
  std::optional<data::PlannedUpdate> update = plan_->next(cursor_);
  while (update && !has_reached_goal() && !end.was_stopped) {
    const std::optional<data::PlannedUpdate> upcoming = plan_->next(update->end);
    const StepReport report =
        step_->run(*update, upcoming ? &*upcoming : nullptr, wants_to_stop() ? 1 : 0);
    end.seconds += report.seconds;
    cursor_ = update->end;
    output.update(report);
    const bool is_last = !upcoming || has_reached_goal();
    if (is_last) require_finite_weights();
    if (evaluator_ && (update->ends_epoch || is_last)) output.evaluation(evaluate());
    heartbeat_.beat(cursor_.update, Phase::writing_checkpoint);
    output.checkpoint_if_due(parts());
    end.was_stopped =
        !is_last && (report.request > 0 || options_.stop_after_update == cursor_.update);
    update = upcoming;
  }
  return finish(output, end, samples_before);
}

RunEnd Trainer::finish(RunOutput& output, RunEnd end, std::uint64_t samples_before) {
  const bool has_failed = options_.until_progress && !end.was_stopped && !has_reached_goal();
  end.reason = end.was_stopped           ? "stopped by " + cause_of_stop()
               : has_failed              ? "progress not reached"
               : options_.until_progress ? "progress reached"
                                         : "done";
  end.updates = cursor_.update;
  end.samples_per_second =
      static_cast<double>(cursor_.samples - samples_before) / std::max(end.seconds, 1e-9);
  heartbeat_.beat(cursor_.update,
                  topology_.all().rank() == 0 ? Phase::writing_checkpoint : Phase::ending);
  collectives::agree(
      topology_.all(),
      [&] {
        output.checkpoint_now(parts());
        output.end(end, cursor_);
      },
      explain_);
  if (has_failed) {
    throw data::ContentError(
        "the trace ended at progress " + std::to_string(optimizer_->progress()) + ", before the " +
        std::to_string(*options_.until_progress) +
        " of --until-progress: make it longer, or choose --trace-end repeat-last");
  }
  return end;
}

bool Trainer::wants_to_stop() const {
  if (options_.stop_request != nullptr && options_.stop_request->is_requested()) return true;
  return options_.max_seconds && seconds_since(start_) >= *options_.max_seconds;
}

std::string Trainer::cause_of_stop() const {
  if (options_.stop_after_update == cursor_.update) return "--stop-after-update";
  if (options_.stop_request != nullptr && options_.stop_request->is_requested()) {
    return options_.stop_request->cause();
  }
  return options_.max_seconds && seconds_since(start_) >= *options_.max_seconds
             ? "--max-seconds"
             : "a signal to another rank";
}

EvaluationReport Trainer::evaluate() {
  const Clock::time_point start = Clock::now();
  const Evaluator::Result result =
      evaluator_->evaluate(topology_.all(), replica_->model(), [this](bool waits) {
        heartbeat_.beat(cursor_.update, waits ? Phase::summing : Phase::evaluating);
      });
  const double position =
      static_cast<double>(cursor_.position) / static_cast<double>(plan_->epoch_samples());
  return {.update = cursor_.update,
          .epoch = static_cast<double>(cursor_.epoch) + position,
          .progress = optimizer_->progress(),
          .loss = result.loss,
          .accuracy = result.accuracy,
          .samples = evaluator_->samples(),
          .seconds = seconds_since(start)};
}

// What the last update did wrong no later gradient would show. All ranks of a node see the same
// weights.
void Trainer::require_finite_weights() const {
  for (const float weight : replica_->shared().parameters) {
    if (std::isfinite(weight)) continue;
    throw RunError("update " + std::to_string(cursor_.update) +
                   ": the weights are not finite: training has diverged (a lower learning rate, "
                   "or a warm-up, may help)");
  }
}

bool Trainer::has_reached_goal() const {
  return options_.until_progress && optimizer_->progress() >= *options_.until_progress;
}

StateParts Trainer::parts() {
  return {options_.seed, *replica_, *optimizer_, *sync_, cursor_, step_->audit()};
}

TrainingState Trainer::state() {
  TrainingState state;
  copy_state(parts(), state);
  return state;
}

}  // namespace rubato::runtime
