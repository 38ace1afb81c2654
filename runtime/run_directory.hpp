// The directory that a run writes to, opened before anything else happens: one that is in use, or
// that holds another run, is refused at once.
//
//   run.lock        who is writing here
//   config.ini      the options: rubato train --config DIR/config.ini --out NEW repeats the run
//   trace.csv       the trace's rows, where there is a trace
//   decisions.csv   what an adaptive run decided: a trace that repeats it
//   state.json      where the run stands
//   metrics.jsonl   what happened, a line each
//   checkpoints/    ckpt-<update>.h5 and their checksums
//   tensorboard/    event files, where they are wished for
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/communicator.hpp"
#include "data/batch_trace.hpp"
#include "runtime/checkpoint_store.hpp"
#include "runtime/run_lock.hpp"
#include "runtime/run_options.hpp"

namespace rubato::runtime {

class RunDirectory {
 public:
  // Makes it and takes its lock. Throws OutputError if it cannot be made, is in use, or holds a run
  // and the mode is `fresh`.
  RunDirectory(std::filesystem::path path, OutputMode mode);
  ~RunDirectory();  // removes what it made, if no run has begun in it

  const std::filesystem::path& path() const noexcept { return path_; }

  // A run begins here, from its beginning: what the directory held is removed. (Where there was
  // something to go on with but its checkpoints, the metrics are kept as metrics.jsonl.1, .2, ...)
  void begin_anew();
  // Its options, if there are any; and its trace unless it is a constant batch. Throws WriteError.
  void record(const std::string& configuration);
  void record(const std::string& configuration, const data::BatchTrace& trace);

 private:
  void remove_leftovers() const;
  void keep_updates_without_checkpoints() const;

  std::filesystem::path path_;
  OutputMode mode_;
  bool was_made_ = false;
  bool has_begun_ = false;
  std::optional<RunLock> lock_;
};

// Where a run goes on.
struct ResumePoint {
  Checkpoint checkpoint;
  std::string file;
  std::vector<std::string> skipped;  // newer checkpoints: a sentence for each that says why
  bool was_finished = false;         // state.json says so
};

struct OpenedRun {
  std::unique_ptr<RunDirectory> directory;  // of rank 0
  std::optional<ResumePoint> resume;        // of all; `skipped` of rank 0 alone
};

// Collective. Rank 0 opens the directory, and under `resume` reads the newest good checkpoint for
// all ranks. Fails on all ranks alike (collectives::AgreedFailure): as RunDirectory, or where there
// are checkpoints and none is good.
OpenedRun open_run(const collectives::Communicator& world, const std::filesystem::path& path,
                   OutputMode mode, const collectives::Explain& explain);

}  // namespace rubato::runtime
