// What rubato train prints on standard output: a table as the run goes on, or one JSON document at
// its end.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/run_log.hpp"

namespace rubato::app {

// One row for each evaluation, with the last update's batch, rate and gain; with log_every also one
// for each so-many-th update.
class TrainingTable final : public runtime::RunLog {
 public:
  TrainingTable(std::ostream& out, std::optional<std::uint64_t> log_every);
  void begin(const runtime::RunFacts& facts) override;
  void update(const runtime::StepReport& report) override;
  void evaluation(const runtime::EvaluationReport& report) override;
  void end(const runtime::RunEnd& end) override;

 private:
  void print_row(const runtime::StepReport& report, const runtime::EvaluationReport* evaluation);

  std::ostream& out_;
  std::optional<std::uint64_t> log_every_;
  runtime::StepReport last_;
  double seconds_ = 0;
};

class TrainingJson final : public runtime::RunLog {
 public:
  explicit TrainingJson(std::ostream& out) : out_(out) {}
  void begin(const runtime::RunFacts& facts) override;
  void update(const runtime::StepReport& report) override;
  void evaluation(const runtime::EvaluationReport& report) override;
  void end(const runtime::RunEnd& end) override;

 private:
  std::ostream& out_;
  nlohmann::ordered_json document_;
  runtime::StepReport last_;
};

}  // namespace rubato::app
