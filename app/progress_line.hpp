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

// "0:07", "12:30", "3:05:00": of seconds, rounded.
std::string clock_time(double seconds);

// A line on standard error that takes the place of itself.
class TerminalLine {
 public:
  TerminalLine() = default;
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;
  ~TerminalLine() { clear(); }

  bool is_due() const;  // the last one has been there for long enough to be read
  void show(const std::string& text);
  void clear();

 private:
  std::chrono::steady_clock::time_point last_shown_;
  bool is_shown_ = false;
};

// Written to standard error. Whoever else prints on the terminal calls clear() first, and is told
// of an update before this line is.
class ProgressLine final : public runtime::RunLog {
 public:
  void clear() { line_.clear(); }

  void begin(const runtime::RunFacts& facts) override;
  void update(const runtime::StepReport& report) override;
  void evaluation(const runtime::EvaluationReport& report) override;
  void end(const runtime::RunEnd& end) override;

 private:
  std::string text(const runtime::StepReport& report) const;

  std::optional<std::uint64_t> total_updates_;
  std::optional<std::uint64_t> total_samples_;
  TerminalLine line_;  // taken away at the end: a run may fail in the middle of it
  SampleRate rate_;
};

}  // namespace rubato::app
