// What rank 0 makes of a run: it tells the logs, writes metrics, checkpoints and state.json. On the
// other ranks, and where there is no directory, there is nothing to do and nothing is done.
//
// A checkpoint or a line of metrics that cannot be written is a warning, told once; training goes
// on, and the next one is tried again. What is still missing at the end is an error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint_writer.hpp"
#include "runtime/decisions_file.hpp"
#include "runtime/metrics_file.hpp"
#include "runtime/run_directory.hpp"
#include "runtime/run_log.hpp"
#include "runtime/run_options.hpp"
#include "runtime/state_file.hpp"
#include "runtime/state_transfer.hpp"
#include "runtime/tensorboard_file.hpp"

namespace rubato::runtime {

class RunOutput {
 public:
  struct Record {
    // Puts the present state, the identity and further entries of the context into a checkpoint
    // whose context is that of the facts.
    std::function<void(Checkpoint&)> fill;
    std::string decisions = {};  // of an adaptive run, so far (batch_decisions.hpp)
    std::optional<std::string> resume_command = {};  // default: that of rubato train
  };

  // Begins the run's files, or goes on with those up to facts.start. Throws OutputError,
  // WriteError. `directory` is nothing on ranks other than 0, and without an output directory.
  RunOutput(const RunOptions& options, RunDirectory* directory, std::vector<RunLog*> logs,
            RunFacts facts, Record record, const data::BatchTrace& trace);

  void begin(const data::Cursor& cursor);
  void update(const StepReport& report);
  void evaluation(const EvaluationReport& report);
  void epoch(const EpochAudit& audit);
  void decision(const DecisionReport& report);

  bool is_checkpoint_due(const data::Cursor& cursor) const;
  // Writes a checkpoint beside the training. Nobody may write weights meanwhile; it returns when
  // the state is copied.
  void checkpoint(const data::Cursor& cursor);
  // The same, and waits for it, even if there is one of that update. Throws WriteError.
  void checkpoint_now(const data::Cursor& cursor);
  // Whether the last checkpoint is one of that update, and written: waits for it.
  bool has_checkpoint(const data::Cursor& cursor);

  // The last words. Throws WriteError if metrics are missing on disk.
  void end(const RunEnd& end, const data::Cursor& cursor);
  // The run ends with an error. Never throws.
  void failed(const std::string& reason, std::optional<int> exit_code,
              const data::Cursor& cursor) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  void tell(const std::function<void(RunLog&)>& what);
  void open_decisions();
  void open_tensorboard();
  void warn_of(const std::optional<std::string>& failure);
  void report_writes();
  void write_state(RunState state, const data::Cursor& cursor, const std::string& reason,
                   std::optional<int> exit_code) const;

  const RunOptions& options_;
  RunDirectory* directory_;
  std::vector<RunLog*> logs_;
  RunFacts facts_;
  Record record_;
  std::string started_;
  std::unique_ptr<MetricsFile> metrics_;
  std::unique_ptr<DecisionsFile> decisions_;      // of an adaptive run
  std::unique_ptr<TensorboardFile> tensorboard_;  // if it is wished for
  std::optional<CheckpointWriter> writer_;
  std::optional<std::uint64_t> last_submitted_;
  std::optional<std::uint64_t> last_reported_;
  bool has_failed_ = false;  // the checkpoint last submitted, and perhaps some before it
  double last_stall_seconds_ = 0;
  Clock::time_point last_checkpoint_ = Clock::now();
};

}  // namespace rubato::runtime
