// Setting up happens in an order that lets every failure be told once, by all ranks, before
// anything is written: inputs, agreement that all ranks hold the same, memory, output directory.
// Then updates; where an epoch ends, an evaluation, then a checkpoint: who goes on repeats neither.
#include "runtime/trainer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collectives/agreement.hpp"
#include "collectives/host_name.hpp"
#include "data/errors.hpp"
#include "runtime/errors.hpp"
#include "runtime/run_context.hpp"
#include "runtime/run_inputs.hpp"
#include "runtime/run_output.hpp"
#include "runtime/weights_check.hpp"

namespace rubato::runtime {

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
      heartbeat_(topology_),
      waiting_(topology_.all().size()) {
  if (options_.watchdog) watchdog_.emplace(heartbeat_, topology_, *options_.watchdog);
  if (options_.timeline) timeline_.emplace(topology_, heartbeat_, *options_.timeline, explain_);
  collectives::agree(
      topology_.all(), [this] { take_inputs(); }, explain_);
  require_same_everywhere();
  describe_run();
  if (limits_) {
    adaptive_ =
        std::make_unique<AdaptiveBatch>(options_, *limits_, topology_, facts_.reference_batch);
  }
  replica_ = std::make_unique<Replica>(topology_, std::move(model_), optimizer_->state_names(),
                                       options_.seed);
  loader_ = std::make_unique<data::Prefetcher>(
      source_.train, options_.order, options_.seed,
      limits_ ? adaptive_->largest_minibatch() : plan_->largest_minibatch(),
      std::move(augmentation_));
  sync_ = make_gradient_sync(topology_, replica_->layout(), options_.sum, options_.allreduce);
  sync_->reserve(plan_->most_minibatches());
  step_ = std::make_unique<TrainStep>(
      topology_, *replica_, *loader_, *sync_, *optimizer_,
      TrainStep::Options{options_.assignment, plan_->epoch_samples(), options_.shadow_rules,
                         options_.skips_nonfinite, &heartbeat_, options_.substep_clock});
  if (source_.test) evaluator_ = std::make_unique<Evaluator>(source_.test, options_.evaluate_every);
  if (opened.resume) go_on_from(*opened.resume);
  if (adaptive_) adaptive_->try_minibatches(std::bind_front(&TrainStep::seconds_of, step_.get()));
}

Trainer::~Trainer() = default;

void Trainer::take_inputs() {
  RunInputs inputs = open_inputs(options_, topology_.all().size());
  limits_ = inputs.limits;
  source_ = std::move(inputs.source);
  augmentation_ = std::move(inputs.augmentation);
  plan_.emplace(std::move(inputs.plan));
  model_ = std::move(inputs.model);
  optimizer_ = std::move(inputs.optimizer);
}

void Trainer::require_same_everywhere() {
  identity_ = run_identity(options_, source_, plan_->trace(), model_->layout());
  std::vector<collectives::NamedValue> values = named_values(identity_);
  values.insert(values.begin(), {"the options", options_.configuration});
  collectives::require_same(topology_.all(), values);
}

void Trainer::describe_run() {
  facts_.model = options_.model;
  facts_.parameters = model_->layout().parameter_count();
  facts_.training_samples = source_.train->size();
  facts_.test_samples = source_.test ? source_.test->size() : 0;
  facts_.ranks = topology_.all().size();
  facts_.hosts = topology_.hosts();
  facts_.reference_batch = optimizer_->reference_batch();
  if (!options_.adaptive) facts_.total_updates = plan_->total_updates();
  if (!options_.adaptive) facts_.total_samples = plan_->total_samples();
  facts_.warnings = plan_->trace().warnings();
  facts_.context = run_context(options_, topology_, source_);
}

void Trainer::go_on_from(const ResumePoint& resume) {
  collectives::agree(
      topology_.all(),
      [&] {
        require_same_run(resume.checkpoint.identity, identity_, options_.accepts_other_kernels);
        if (adaptive_) {
          adaptive_->restore(resume.checkpoint);
          plan_ = data::TracePlan(adaptive_->trace(), plan_->options());
        }
        require_same_course(resume.checkpoint.state, options_.seed, optimizer_->rule());
        if (!adaptive_ || !adaptive_->needs_decision())
          require_passed(*plan_, resume.checkpoint.state.cursor);
        require_fit(resume.checkpoint.state, parts());
      },
      explain_);
  restore_state(resume.checkpoint.state, topology_, parts());
  was_finished_ = resume.was_finished;
  facts_.start = cursor_;
  facts_.resumed_from = resume.file;
  facts_.warnings.insert(facts_.warnings.end(), resume.skipped.begin(), resume.skipped.end());
}

RunOutput::Record Trainer::record() {
  RunOutput::Record record{.fill = [this](Checkpoint& to) {
    copy_state(parts(), to.state);
    to.identity = identity_;
    if (adaptive_) std::ranges::move(adaptive_->entries(), std::back_inserter(to.context));
  }};
  if (adaptive_) record.decisions = adaptive_->decisions();
  return record;
}

RunEnd Trainer::run(std::vector<RunLog*> logs) {
  if (timeline_) logs.push_back(&*timeline_);
  std::optional<RunOutput> output;
  collectives::agree(
      topology_.all(),
      [&] {
        output.emplace(options_, directory_.get(),
                       topology_.all().rank() == 0 ? logs : std::vector<RunLog*>(), facts_,
                       record(), plan_->trace());
        output->begin(cursor_);
      },
      explain_);
  RunEnd end;
  try {
    end = train(*output);
  } catch (const RunError&) {  // the same on every rank, as the next two
    fail(*output);
  } catch (const data::ContentError&) {
    fail(*output);
  } catch (const collectives::AgreedFailure&) {
    fail(*output);
  }
  if (timeline_) timeline_->write(explain_);
  return end;
}

void Trainer::fail(RunOutput& output) {
  const collectives::Failure failure = explain_(std::current_exception());
  output.failed(failure.message, failure.exit_code, cursor_);
  if (timeline_) timeline_->write_after_failure(explain_);
  throw collectives::AgreedFailure(failure);
}

void Trainer::write_checkpoint_if_due(RunOutput& output) {
  if (!output.is_checkpoint_due(cursor_)) return;
  // Weights that are not finite end the run in the next update: the last good checkpoint stays.
  if (!has_finite_weights(*replica_)) return;
  heartbeat_.beat(cursor_.update, Phase::writing_checkpoint);
  output.checkpoint(cursor_);
}

RunEnd Trainer::train(RunOutput& output) {
  if (adaptive_ && adaptive_->needs_decision()) decide_on_other_ranks(output);
  write_checkpoint_if_due(output);
  RunEnd end;
  const std::uint64_t samples_before = cursor_.samples;
  std::optional<data::PlannedUpdate> update = plan_->next(cursor_);
  const bool is_stopped = stop_.is_at_stop(cursor_.update) && update && !has_reached_goal();
  StopCause cause = is_stopped ? StopCause::update : StopCause::none;
  while (update && !has_reached_goal() && cause == StopCause::none) {
    std::optional<data::PlannedUpdate> upcoming = plan_->next(update->end);
    const bool decides = adaptive_ && upcoming && adaptive_->is_decision_due(*update);
    StepReport report = step_->run(*update, upcoming && !decides ? &*upcoming : nullptr,
                                   static_cast<std::uint64_t>(stop_.wish()));
    if (adaptive_) adaptive_->observe(*update, report);
    if (end.seconds > 0) waiting_.add(report.rank_times, report.seconds);  // not the first one
    end.seconds += report.seconds;
    cursor_ = update->end;
    heartbeat_.beat(cursor_.update, Phase::reporting);
    output.update(report);
    const bool is_last = !upcoming || has_reached_goal();
    if (decides && !is_last) {
      decide(output);
      upcoming = plan_->next(cursor_);
    }
    if (!is_last)
      cause = stop_.is_at_stop(cursor_.update) ? StopCause::update : StopCause{report.request};
    const bool goes_on = !is_last && cause == StopCause::none;
    if (!goes_on) require_finite_weights(*replica_, topology_, cursor_.update);
    require_progress(report);
    if (evaluator_ && (is_last || evaluator_->is_due(*update))) output.evaluation(evaluate());
    if (goes_on) write_checkpoint_if_due(output);
    update = upcoming;
  }
  return finish(output, cause, end, samples_before);
}

// Chooses the batch size from here on.
void Trainer::decide(RunOutput& output) {
  adaptive_->decide(cursor_, plan_, optimizer_->noise());
  if (const auto report = adaptive_->take_report()) output.decision(*report);
}

// The smallest batch of these ranks may be larger than what the epoch has left: it is complete
// then, as in a replay, which knows of the batch before. So may a decision that is forgotten, as it
// held for no update, have completed it.
void Trainer::decide_on_other_ranks(RunOutput& output) {
  decide(output);
  const data::Cursor before = std::exchange(cursor_, plan_->settled(cursor_));
  if (!plan_->passes(cursor_)) {
    output.decision(adaptive_->begin_epoch(cursor_, plan_, epoch_left_early));
    collectives::agree(
        topology_.all(), [this] { require_passed(*plan_, cursor_); }, explain_);
  }
  if (cursor_ == before) return;
  if (const auto finished = step_->audit().advance_to(cursor_.epoch)) output.epoch(*finished);
  if (evaluator_) output.evaluation(evaluate());
  output.checkpoint(cursor_);
}

RunEnd Trainer::finish(RunOutput& output, StopCause cause, RunEnd end,
                       std::uint64_t samples_before) {
  end.was_stopped = cause != StopCause::none;
  const bool has_failed = options_.until_progress && !end.was_stopped && !has_reached_goal();
  end.reason = end.was_stopped           ? "stopped by " + stop_.name_of(cause)
               : has_failed              ? "progress not reached"
               : options_.until_progress ? "progress reached"
                                         : "done";
  end.updates = cursor_.update;
  end.samples_per_second =
      static_cast<double>(cursor_.samples - samples_before) / std::max(end.seconds, 1e-9);
  end.waiting_share = waiting_.share();
  end.waiting_seconds = waiting_.seconds();
  const std::vector<std::string> hosts = topology_.all().gather(collectives::host_name());
  if (!topology_.is_oversubscribed()) end.slow_rank = waiting_.slow_rank(hosts);
  require_same_weights(*replica_, topology_, cursor_.update);
  heartbeat_.beat(cursor_.update,
                  topology_.all().rank() == 0 ? Phase::writing_checkpoint : Phase::ending);
  collectives::agree(
      topology_.all(),
      [&] {
        if (!output.has_checkpoint(cursor_)) output.checkpoint_now(cursor_);
        if (!has_failed) output.end(end, cursor_);
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

EvaluationReport Trainer::evaluate() {
  EvaluationReport report =
      evaluator_->report(topology_.all(), replica_->model(), [this](bool waits) {
        heartbeat_.beat(cursor_.update, waits ? Phase::waiting : Phase::evaluating);
      });
  heartbeat_.beat(cursor_.update, Phase::reporting);
  report.update = cursor_.update;
  report.epoch =
      static_cast<double>(cursor_.epoch) +
      static_cast<double>(cursor_.position) / static_cast<double>(plan_->epoch_samples());
  report.progress = optimizer_->progress();
  return report;
}

// One bad minibatch may be left out; a run that has diverged has nothing but bad ones.
void Trainer::require_progress(const StepReport& report) {
  constexpr int most_in_a_row = 20;
  skipped_in_a_row_ = report.skipped.empty() ? 0 : skipped_in_a_row_ + 1;
  if (skipped_in_a_row_ < most_in_a_row) return;
  throw RunError("update " + std::to_string(cursor_.update) + ": the " +
                 std::to_string(most_in_a_row) +
                 "th in a row that is left out: training has diverged (a lower learning rate, or "
                 "a warm-up, may help)");
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
