// What defines a job, and what only says how to carry it out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/explain.hpp"
#include "runtime/run_log.hpp"
#include "runtime/run_options.hpp"

namespace rubato::runtime {

struct JobOptions {
  std::optional<std::filesystem::path> directory = {};  // nothing is written without it
  std::uint64_t seed = 42;                              // of weights and orders
  bool overwrites = false;  // begin anew, whatever the directory holds; default: go on with it
  std::optional<std::filesystem::path> decisions = {};  // of an adaptive job, to be repeated
  std::optional<std::uint64_t> checkpoint_every = {};   // updates; default: checkpoint_seconds
  std::size_t kept_checkpoints = 3;                     // besides that of update 0
  std::optional<double> max_seconds = {};               // stop then
  // Signals that stop the job. Default: one of its own, if there is a directory; a signal that
  // comes when the job is gone, and MPI is not, then ends the process.
  const StopRequest* stop_request = nullptr;
  bool accepts_other_kernels = false;  // when it goes on
  std::string backend = "auto";        // kernels, as in run_options.hpp
  std::string isa = "auto";
  optim::SumKind sum = optim::SumKind::exact;
  collectives::AllreduceAlgorithm allreduce = collectives::AllreduceAlgorithm::automatic;
  data::Assignment assignment = data::Assignment::blocked;
  std::vector<RunLog*> logs = {};  // told on rank 0, besides DIR/metrics.jsonl
  collectives::Explain explain = runtime::explain;
};

// The same in the terms of a run.
RunOptions run_options(const JobOptions& options);

}  // namespace rubato::runtime
