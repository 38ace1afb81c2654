// One line on the terminal that says how far the run is, rewritten a few times a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/run_log.hpp"

namespace rubato::app {

// Whether a person watches standard error. Under mpirun a rank's standard error is a pipe to
// mpirun, so mpirun's own is looked at too.
bool is_watched();

class ProgressLine final : public runtime::RunLog {
 public:
  void begin(const runtime::RunFacts& facts) override;
  void update(const runtime::StepReport& report) override;
  void evaluation(const runtime::EvaluationReport& report) override;
  void end(const runtime::RunEnd& end) override;

 private:
  std::string time_left(std::uint64_t samples, double samples_per_second) const;

  std::optional<std::uint64_t> total_updates_;
  std::optional<std::uint64_t> total_samples_;
  std::chrono::steady_clock::time_point last_shown_;
  double seconds_ = 0;
};

}  // namespace rubato::app
