// Who hears of a run's progress: the metrics file, the progress line. Rank 0 only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint.hpp"
#include "runtime/rank_times.hpp"
#include "runtime/step_report.hpp"

namespace rubato::runtime {

// What is known when training begins.
struct RunFacts {
  std::vector<ContextEntry> context;  // version, ranks, hosts, build, kernels, options, ...
  std::vector<std::string> warnings;
  std::string model;
  std::uint64_t parameters = 0;
  std::uint64_t training_samples = 0;
  std::uint64_t test_samples = 0;  // 0: no test set
  std::uint64_t ranks = 1;
  std::vector<std::string> hosts;
  double reference_batch = 0;
  std::optional<std::uint64_t> total_updates;  // where the end is known
  std::optional<std::uint64_t> total_samples;
  data::Cursor start;        // where this run goes on from; update 0: from the beginning
  std::string resumed_from;  // the checkpoint's file
};

// A checkpoint that is on disk.
struct CheckpointReport {
  std::uint64_t update = 0;
  std::uint64_t bytes = 0;
  double stall_seconds = 0;   // for which training stood still: the copy of the state
  double encode_seconds = 0;  // beside the training
  double write_seconds = 0;
  std::chrono::steady_clock::time_point begin = {};  // of the encoding
};

struct RunEnd {
  std::string reason;        // "done", "progress reached", "stopped by SIGUSR1"
  bool was_stopped = false;  // before its end; what is there to go on with is on disk
  std::uint64_t updates = 0;
  double seconds = 0;  // training alone, without evaluations
  double samples_per_second = 0;
  double waiting_share = 0;  // of the seconds: what ranks waited for the slowest (rank_times.hpp)
  std::vector<double> waiting_seconds = {};  // of each rank
  std::optional<SlowRank> slow_rank = {};    // if one stands out
};

class RunLog {
 public:
  virtual ~RunLog() = default;
  virtual void begin(const RunFacts& /*facts*/) {}
  virtual void update(const StepReport& report) = 0;
  // An adaptive run considered its batch size, after the update last told.
  virtual void decision(const DecisionReport& /*report*/) {}
  virtual void evaluation(const EvaluationReport& /*report*/) {}
  // An epoch is complete, by the update last told or because no further one fits into it.
  virtual void epoch(const EpochAudit& /*audit*/) {}
  virtual void end(const RunEnd& /*end*/) {}
  virtual void checkpoint(const CheckpointReport& /*report*/) {}
  // Something went wrong that the run survives. One sentence.
  virtual void warning(const std::string& /*sentence*/) {}
};

}  // namespace rubato::runtime
