// A run that is killed again and again, and what each kill must leave behind.
//
// Every start is `rubato train --resume`, on a number of ranks of its own, into the same directory.
// When a kill has left nothing of the job, the promises of the training are checked: the exit code;
// that the start went on from the newest checkpoint; that a checkpoint once written is neither lost
// nor damaged; that a graceful stop loses no update.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/kill_plan.hpp"
#include "app/mpi_job.hpp"
#include "app/stop_signals.hpp"

namespace rubato::app {

// The training that is proved: how mpirun is called, and what it runs.
struct Training {
  std::vector<std::string> launcher{"mpirun"};
  std::vector<std::string> command;  // this program, "train" and its options
};

MpiJobPlan job_plan(const Training& training, std::uint64_t ranks,
                    const std::filesystem::path& directory,
                    const std::vector<std::string>& more_options = {});

struct KillRecord {
  Kill kill;
  std::uint64_t expected_from = 0;              // the newest checkpoint before the start
  std::optional<std::uint64_t> resumed_from{};  // what the start said; none: it did not come so far
  std::uint64_t at_update = 0;                  // the last one done when it ended
  std::optional<std::uint64_t> kept_update{};   // of the newest good checkpoint then
  std::vector<std::string> damaged{};           // newer checkpoints that are not good, and why
  bool has_stopped_first = false;               // at its stop_update, before its kill
  bool is_stuck = false;                        // it did not end within a minute of its kill
  bool had_dead_ranks = false;                  // MpiJob ended mpirun
  int exit_code = 0;                            // of mpirun
  double seconds = 0;                           // from the start until nothing was left

  // To be run again.
  std::uint64_t lost_updates() const noexcept {
    return at_update - std::min(at_update, kept_update.value_or(0));
  }
};

// The first promise that was broken, as a clause; empty: none. `had_checkpoint` before the start.
std::string broken_promise(const KillRecord& record, bool had_checkpoint);

class KilledRun {
 public:
  // What the training prints goes to the log. All that waits throws Interrupted.
  KilledRun(Training training, std::filesystem::path directory, std::filesystem::path log,
            std::uint64_t checkpoint_every, StopSignals& signals);

  KillRecord start_and_kill(const Kill& kill);
  bool has_checkpoint() const noexcept { return newest_.has_value(); }

  // The last start, left alone. Its exit code.
  int finish(std::uint64_t ranks);

 private:
  void look_at_checkpoints(KillRecord& record);

  Training training_;
  std::filesystem::path directory_;
  std::filesystem::path log_;
  std::uint64_t checkpoint_every_;
  StopSignals& signals_;
  std::optional<std::uint64_t> newest_;  // the newest good checkpoint's update
};

// Runs a job to its end, with its output in the log. Its exit code. Throws Interrupted.
int run_job(const MpiJobPlan& plan, const std::filesystem::path& log, StopSignals& signals);

}  // namespace rubato::app
