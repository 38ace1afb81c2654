// A job: a training program of one's own that survives being stopped, on whatever ranks it goes on.
//
//   collectives::run_session(argc, argv, [&](const collectives::Communicator& world) {
//     runtime::Job job(world, {.directory = "runs/a"});
//     runtime::AdaptiveDataParallel model(...);            // adaptive_data_parallel.hpp
//     runtime::AdaptiveDataLoader train(...), test(...);   // adaptive_data_loader.hpp
//     for (auto epoch : runtime::remaining_epochs_until(30)) {  // job_epochs.hpp
//       for (auto& batch : train) model.train(batch);
//     }
//     return 0;
//   }, runtime::explain);
//
// All ranks run the same program. Its parts are put together when it comes to its first loop: until
// then nothing is written. A job that goes on runs its program from the beginning: epochs and loops
// that were finished are skipped (job_progress.hpp), the loop under way goes on with the next
// batch, and the code around them runs again. So that code must do no harm when it runs twice; what
// it adds up belongs into an Accumulator.
//
// A checkpoint is written while it goes on, when a batch is done: every so many updates, or
// seconds; when the epochs are over; and when it is asked to stop. A signal to any rank travels
// with the update's one reduction, so all ranks stop after the same update. A loop in which nothing
// is trained communicates nothing while it runs: there a signal is heard when the loop ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/topology.hpp"
#include "runtime/accumulator_state.hpp"
#include "runtime/explain.hpp"
#include "runtime/job_options.hpp"
#include "runtime/job_progress.hpp"
#include "runtime/run_directory.hpp"
#include "runtime/run_output.hpp"
#include "runtime/stop_request.hpp"
#include "runtime/stop_wish.hpp"

namespace rubato::runtime {

class AdaptiveDataLoader;
class AdaptiveDataParallel;

// The job was asked to stop, and its last checkpoint is on disk: thrown on every rank alike.
// collectives::run_session() ends with its exit code, 75.
class JobStopped : public collectives::AgreedFailure {
 public:
  explicit JobStopped(const std::string& sentence) : AgreedFailure({exit_stopped, sentence}) {}
};

class Job {
 public:
  // Collective; at most one at a time in a process. Opens the directory. What fails on any rank
  // fails on all (collectives::AgreedFailure).
  Job(const collectives::Communicator& world, JobOptions options);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  // Throws std::logic_error where there is none: `what` cannot be made then.
  static Job& current(const std::string& what);

  const collectives::Communicator& communicator() const noexcept { return topology_.all(); }
  std::optional<std::uint64_t> epoch() const noexcept { return progress_.epoch(); }
  std::uint64_t restarts() const noexcept { return restarts_; }  // how often it has gone on

  // Both collective, and at once outside of loops; in a loop over a loader when the batch in hand
  // is done. A checkpoint is on disk before the program goes on; asked for outside of loops it also
  // keeps what accumulators have been given there, which a program that runs again must then not
  // give them again. stop() throws JobStopped.
  void checkpoint();
  void stop();

  // The state of the training, whole on every rank: not collective, but no rank may be training
  // meanwhile.
  TrainingState state();

  // For the parts of a job.
  const JobOptions& options() const noexcept { return options_; }
  const RunOptions& run() const noexcept { return run_; }
  const collectives::Topology& topology() const noexcept { return topology_; }
  JobProgress& progress() noexcept { return progress_; }
  AccumulatorStates& accumulators() noexcept { return accumulators_; }
  // What fails on any rank fails on all. May not communicate.
  void agree(const std::function<void()>& attempt) const;
  // What fails, fails on all ranks in the same way: as a failure that all have agreed upon.
  [[noreturn]] void fail_together() const;

  void add(AdaptiveDataParallel& model);
  void add(AdaptiveDataLoader& loader);
  void remove(const AdaptiveDataParallel& model) noexcept;
  void remove(const AdaptiveDataLoader& loader) noexcept;
  AdaptiveDataParallel* model() const noexcept { return model_; }
  AdaptiveDataLoader* trained_loader() const noexcept;

  void begin();  // collective; puts the parts together, once
  bool has_begun() const noexcept { return output_.has_value(); }
  // What this rank wishes to happen after an update: it travels with it.
  std::uint64_t wish(const data::Cursor& after) const;
  void tell(const StepReport& report) { output_->update(report); }
  void tell(const DecisionReport& report) { output_->decision(report); }
  // Collective. A batch is done, or a loop: does what the ranks together wish. `wishes` is the
  // largest of theirs; nothing: they have not told each other yet.
  void at_boundary(std::optional<std::uint64_t> wishes);
  void end_epoch() noexcept;
  void finish_epochs();  // collective: no epochs are left

 private:
  enum class Wish : std::uint64_t { none, checkpoint, time, signal, program };

  void take_record();
  void require_beginning(const std::string& what) const;
  void go_on();
  data::Cursor cursor() const;
  void fill(Checkpoint& checkpoint) const;
  void write_checkpoint_now(Level level);
  [[noreturn]] void stop_because(Wish wish);

  JobOptions options_;
  RunOptions run_;
  std::optional<StopRequest> own_signals_;
  StopWish stop_wish_;
  int exceptions_before_;
  OpenedRun opened_;
  collectives::Topology topology_;
  JobProgress progress_;
  AccumulatorStates accumulators_;
  std::uint64_t restarts_ = 0;
  std::vector<data::Cursor> cursors_;  // of a checkpoint
  data::Cursor last_cursor_;           // when the loader that trains is gone
  AdaptiveDataParallel* model_ = nullptr;
  std::vector<AdaptiveDataLoader*> loaders_;
  std::vector<ContextEntry> identity_;
  RunFacts facts_;
  std::optional<RunOutput> output_;
  Wish asked_ = Wish::none;  // by the program
  bool has_stopped_ = false;
};

}  // namespace rubato::runtime
