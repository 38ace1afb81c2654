// One line on the terminal that says how far the run is, rewritten a few times a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "app/sample_rate.hpp"
#include "runtime/run_log.hpp"

namespace rubato::app {

// Whether a person watches standard error. Under mpirun a rank's standard error is a pipe to
// mpirun, so mpirun's own is looked at too.
bool is_watched();

// Written to standard error. Whoever else prints on the terminal calls clear() first, and is told
// of an update before this line is.
class ProgressLine final : public runtime::RunLog {
 public:
  ~ProgressLine() override { clear(); }  // a run may fail in the middle of a line
  void clear();

  void begin(const runtime::RunFacts& facts) override;
  void update(const runtime::StepReport& report) override;
  void evaluation(const runtime::EvaluationReport& report) override;
  void end(const runtime::RunEnd& end) override;

 private:
  std::string text(const runtime::StepReport& report) const;

  std::optional<std::uint64_t> total_updates_;
  std::optional<std::uint64_t> total_samples_;
  std::chrono::steady_clock::time_point last_shown_;
  bool is_shown_ = false;
  SampleRate rate_;
};

}  // namespace rubato::app
