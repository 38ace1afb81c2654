// Files are begun in an order that lets a run killed here be begun again: what was there is
// removed first, checkpoints come last. Before a checkpoint takes its name, the metrics of its
// updates are written to disk (those that the disk refuses stay in memory, see line_file.hpp).
#include "runtime/run_output.hpp"

#include <unistd.h>

#include <exception>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/seconds_since.hpp"
#include "runtime/utc_time.hpp"

namespace rubato::runtime {

RunOutput::RunOutput(const RunOptions& options, RunDirectory* directory, std::vector<RunLog*> logs,
                     RunFacts facts, Record record, const data::BatchTrace& trace)
    : options_(options),
      directory_(directory),
      logs_(std::move(logs)),
      facts_(std::move(facts)),
      record_(std::move(record)),
      started_(utc_time()) {
  if (directory_ == nullptr) return;
  const CheckpointStore store(directory_->path(), options_.kept_checkpoints);
  const auto metrics = directory_->path() / "metrics.jsonl";
  if (options_.writes_tensorboard) make_event_directory(directory_->path() / "tensorboard");
  if (facts_.resumed_from.empty()) {
    directory_->begin_anew();
    metrics_ = std::make_unique<MetricsFile>(metrics);
  } else {
    store.remove_leftovers();
    metrics_ = std::make_unique<MetricsFile>(metrics, facts_.start);
    if (!metrics_->note().empty()) facts_.warnings.push_back(metrics_->note());
    last_submitted_ = facts_.start.update;
  }
  if (options_.adaptive) {
    directory_->record(options_.configuration);
  } else {
    directory_->record(options_.configuration, trace);
  }
  open_decisions();
  logs_.push_back(metrics_.get());
  open_tensorboard();
  writer_.emplace(store, [this] {
    metrics_->sync();
    if (decisions_) decisions_->sync();
    if (tensorboard_) tensorboard_->sync();
  });
}

void RunOutput::open_decisions() {
  if (record_.decisions.empty()) return;
  decisions_ =
      std::make_unique<DecisionsFile>(directory_->path() / "decisions.csv", record_.decisions);
}

void RunOutput::open_tensorboard() {
  if (!options_.writes_tensorboard) return;
  tensorboard_ =
      std::make_unique<TensorboardFile>(directory_->path() / "tensorboard", facts_.start.update);
  logs_.push_back(tensorboard_.get());
}

void RunOutput::begin(const data::Cursor& cursor) {
  tell([&](RunLog& log) { log.begin(facts_); });
  if (directory_ == nullptr) return;
  write_state(RunState::running, cursor, "", std::nullopt);
}

void RunOutput::update(const StepReport& report) {
  tell([&](RunLog& log) { log.update(report); });
  for (const EpochAudit& finished : report.finished_epochs) epoch(finished);
  if (directory_ == nullptr) return;
  warn_of(metrics_->take_failure());
  if (tensorboard_) warn_of(tensorboard_->take_failure());
  report_writes();
}

void RunOutput::epoch(const EpochAudit& audit) {
  tell([&](RunLog& log) { log.epoch(audit); });
}

void RunOutput::decision(const DecisionReport& report) {
  tell([&](RunLog& log) { log.decision(report); });
  if (!decisions_) return;
  if (report.changes) decisions_->append(line_of(report.decision));
  warn_of(decisions_->take_failure());
}

void RunOutput::warn_of(const std::optional<std::string>& failure) {
  if (!failure) return;
  tell([&](RunLog& log) { log.warning(*failure); });
}

void RunOutput::evaluation(const EvaluationReport& report) {
  tell([&](RunLog& log) { log.evaluation(report); });
}

bool RunOutput::is_checkpoint_due(const data::Cursor& cursor) const {
  if (directory_ == nullptr || last_submitted_ == cursor.update) return false;
  const bool is_due = options_.checkpoint_every
                          ? cursor.update % *options_.checkpoint_every == 0
                          : seconds_since(last_checkpoint_) >= checkpoint_seconds;
  return is_due || !last_submitted_;
}

void RunOutput::checkpoint(const data::Cursor& cursor) {
  if (directory_ == nullptr) return;
  const Clock::time_point start = Clock::now();
  Checkpoint checkpoint = writer_->take_buffer();
  report_writes();
  checkpoint.context = facts_.context;
  checkpoint.context.push_back({"written", utc_time()});
  record_.fill(checkpoint);
  writer_->submit(std::move(checkpoint));
  last_submitted_ = cursor.update;
  last_stall_seconds_ = seconds_since(start);
  last_checkpoint_ = Clock::now();
}

void RunOutput::checkpoint_now(const data::Cursor& cursor) {
  if (directory_ == nullptr) return;
  checkpoint(cursor);
  writer_->finish();
  if (const auto failure = writer_->take_failure()) throw WriteError(*failure);
  report_writes();
}

bool RunOutput::has_checkpoint(const data::Cursor& cursor) {
  if (directory_ == nullptr) return true;
  writer_->finish();
  report_writes();
  return last_submitted_ == cursor.update && !has_failed_;
}

void RunOutput::report_writes() {
  if (const auto failure = writer_->take_failure()) {
    if (!has_failed_) {  // once per outage
      tell([&](RunLog& log) { log.warning(*failure + "; training goes on without it"); });
    }
    has_failed_ = true;
  }
  const auto timing = writer_->last_timing();
  if (!timing || timing->update == last_reported_) return;
  last_reported_ = timing->update;
  if (last_submitted_ == timing->update) has_failed_ = false;
  const CheckpointReport report{.update = timing->update,
                                .bytes = timing->bytes,
                                .stall_seconds = last_stall_seconds_,
                                .encode_seconds = timing->encode_seconds,
                                .write_seconds = timing->write_seconds,
                                .begin = timing->begin};
  tell([&](RunLog& log) { log.checkpoint(report); });
}

void RunOutput::end(const RunEnd& end, const data::Cursor& cursor) {
  tell([&](RunLog& log) { log.end(end); });
  if (directory_ == nullptr) return;
  if (decisions_) decisions_->finish();
  write_state(end.was_stopped ? RunState::preempted : RunState::finished, cursor, end.reason,
              std::nullopt);
}

void RunOutput::failed(const std::string& reason, std::optional<int> exit_code,
                       const data::Cursor& cursor) noexcept {
  if (directory_ == nullptr) return;
  try {
    write_state(RunState::failed, cursor, reason, exit_code);
  } catch (const std::exception&) {  // the failure itself is what the run ends with
  }
}

void RunOutput::tell(const std::function<void(RunLog&)>& what) {
  for (RunLog* log : logs_) what(*log);
}

void RunOutput::write_state(RunState state, const data::Cursor& cursor, const std::string& reason,
                            std::optional<int> exit_code) const {
  RunStatus status{.state = state,
                   .update = cursor.update,
                   .epoch = cursor.epoch,
                   .samples = cursor.samples,
                   .total_updates = facts_.total_updates,
                   .ranks = facts_.ranks,
                   .hosts = facts_.hosts,
                   .pid = ::getpid(),
                   .started = started_,
                   .written = {},
                   .reason = reason,
                   .exit_code = exit_code,
                   .resume_command = {}};
  if (state != RunState::finished) {
    status.resume_command = record_.resume_command.value_or(
        "rubato train --out " + directory_->path().string() + " --resume");
  }
  write_status(directory_->path(), status);
}

}  // namespace rubato::runtime
