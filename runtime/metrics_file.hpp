// DIR/metrics.jsonl: one JSON object a line, the context first, then updates and evaluations as
// they happen, the end last.
//
// A full disk ends nothing: lines wait in memory (line_file.hpp). A run that goes on from a
// checkpoint goes on in the same file, with a new context, after the checkpoint's update.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/line_file.hpp"
#include "runtime/run_log.hpp"

namespace rubato::runtime {

class MetricsFile final : public RunLog {
 public:
  explicit MetricsFile(const std::filesystem::path& file);  // creates or empties it; OutputError
  // Keeps what the file says up to there and cuts off the rest (metrics_history.hpp). If that part
  // is not complete, the file is kept as FILE.1 (or the next free number) and a new one begun:
  // note() says so. Throws OutputError.
  MetricsFile(const std::filesystem::path& file, const data::Cursor& resumes_from);

  const std::string& note() const { return note_; }  // a sentence; empty: nothing to say

  void begin(const RunFacts& facts) override;
  void update(const StepReport& report) override;
  void decision(const DecisionReport& report) override;
  void evaluation(const EvaluationReport& report) override;
  void epoch(const EpochAudit& audit) override;
  void checkpoint(const CheckpointReport& report) override;
  void warning(const std::string& sentence) override;
  void end(const RunEnd& end) override;  // throws WriteError if lines are missing in the file

  // Why lines wait in memory, as a sentence: once per outage.
  std::optional<std::string> take_failure() { return lines_.take_failure(); }
  // All lines so far are on the disk, or take_failure() says why not. From any thread.
  void sync() { lines_.sync(); }

 private:
  std::string note_;
  LineFile lines_;
};

}  // namespace rubato::runtime
