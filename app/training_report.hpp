// What rubato train prints on standard output: a table as the run goes on, or one JSON document at
// its end.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/sample_rate.hpp"
#include "runtime/run_log.hpp"

namespace rubato::app {

// One row at the end of each epoch and of the run, with the last update's batch, rate and gain and
// the evaluation that follows it where there is a test set; with log_every also one for each
// so-many-th update.
class TrainingTable final : public runtime::RunLog {
 public:
  // `before_printing` clears what else is on the terminal's line.
  TrainingTable(std::ostream& out, std::optional<std::uint64_t> log_every,
                std::function<void()> before_printing);
  void begin(const runtime::RunFacts& facts) override;
  void update(const runtime::StepReport& report) override;
  void evaluation(const runtime::EvaluationReport& report) override;
  void end(const runtime::RunEnd& end) override;

 private:
  bool ends_epoch_or_run(const runtime::StepReport& report) const;
  void print_row(const runtime::StepReport& report, const runtime::EvaluationReport* evaluation);

  std::ostream& out_;
  std::optional<std::uint64_t> log_every_;
  std::function<void()> before_printing_;
  bool has_tests_ = false;
  std::optional<std::uint64_t> total_updates_;
  std::uint64_t first_update_ = 0;
  std::uint64_t ranks_ = 1;
  runtime::StepReport last_;
  SampleRate rate_;
};

// The same facts as one document: "evaluations", with log_every "updates", and of an
// adaptive run "decisions".
class TrainingJson final : public runtime::RunLog {
 public:
  TrainingJson(std::ostream& out, std::optional<std::uint64_t> log_every,
               std::function<void()> before_printing);
  void begin(const runtime::RunFacts& facts) override;
  void update(const runtime::StepReport& report) override;
  void decision(const runtime::DecisionReport& report) override;
  void evaluation(const runtime::EvaluationReport& report) override;
  void end(const runtime::RunEnd& end) override;

 private:
  std::ostream& out_;
  std::optional<std::uint64_t> log_every_;
  std::function<void()> before_printing_;
  nlohmann::ordered_json document_;
  runtime::StepReport last_;
};

}  // namespace rubato::app
