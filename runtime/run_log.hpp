// Who hears of a run's progress: the metrics file, the progress line. Rank 0 only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint.hpp"
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
  double reference_batch = 0;
  std::optional<std::uint64_t> total_updates;  // where the end is known
  std::optional<std::uint64_t> total_samples;
};

struct RunEnd {
  std::string reason;  // "done", "progress reached"
  std::uint64_t updates = 0;
  double seconds = 0;  // training alone, without evaluations
  double samples_per_second = 0;
};

class RunLog {
 public:
  virtual ~RunLog() = default;
  virtual void begin(const RunFacts& facts) = 0;
  virtual void update(const StepReport& report) = 0;
  virtual void evaluation(const EvaluationReport& report) = 0;
  virtual void end(const RunEnd& end) = 0;
};

}  // namespace rubato::runtime
