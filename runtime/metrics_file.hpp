// DIR/metrics.jsonl: one JSON object a line, the context first, then updates and evaluations as
// they happen, the end last.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>

#include "runtime/run_log.hpp"

namespace rubato::runtime {

class MetricsFile final : public RunLog {
 public:
  explicit MetricsFile(std::filesystem::path file);  // creates or empties it; throws OutputError

  void begin(const RunFacts& facts) override;
  void update(const StepReport& report) override;
  void evaluation(const EvaluationReport& report) override;
  void end(const RunEnd& end) override;  // flushes; throws WriteError

 private:
  void write_line(const std::string& line);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace rubato::runtime
