// Columns are as wide as the numbers that may stand in them, so that rows can be printed one by
// one.
#include "app/training_report.hpp"

#include <iomanip>
#include <ostream>
#include <sstream>

namespace rubato::app {
namespace {

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string significant(double value, int digits) {
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

}  // namespace

TrainingTable::TrainingTable(std::ostream& out, std::optional<std::uint64_t> log_every)
    : out_(out), log_every_(log_every) {}

void TrainingTable::begin(const runtime::RunFacts& facts) {
  out_ << facts.model << ", " << facts.parameters << " parameters, " << facts.training_samples
       << " training samples, " << facts.ranks << (facts.ranks == 1 ? " rank" : " ranks")
       << ", reference batch " << facts.reference_batch << '\n';
  out_ << "   update   epoch  batch        lr    gain  progress    loss";
  if (facts.test_samples > 0) out_ << "  test loss  accuracy";
  out_ << "  samples/s\n" << std::flush;
}

void TrainingTable::update(const runtime::StepReport& report) {
  seconds_ += report.seconds;
  last_ = report;
  if (log_every_ && report.update % *log_every_ == 0) print_row(report, nullptr);
}

void TrainingTable::evaluation(const runtime::EvaluationReport& report) {
  print_row(last_, &report);
}

void TrainingTable::end(const runtime::RunEnd& end) {
  out_ << end.reason << ": " << end.updates << " updates in " << fixed(end.seconds, 2) << " s, "
       << fixed(end.samples_per_second, 0) << " samples/s\n"
       << std::flush;
}

void TrainingTable::print_row(const runtime::StepReport& report,
                              const runtime::EvaluationReport* evaluation) {
  const auto cell = [this](const std::string& text, int width) {
    out_ << std::setw(width) << text;
  };
  cell(std::to_string(report.update), 9);
  cell(evaluation != nullptr ? fixed(evaluation->epoch, 2) : std::to_string(report.epoch), 8);
  cell(std::to_string(report.batch_size), 7);
  cell(significant(report.learning_rate, 4), 10);
  cell(fixed(report.gain, 3), 8);
  cell(fixed(report.scaled_updates, 1), 10);
  cell(fixed(report.loss, 4), 8);
  if (evaluation != nullptr) {
    cell(fixed(evaluation->loss, 4), 11);
    cell(fixed(100 * evaluation->accuracy, 2) + " %", 10);
  }
  cell(fixed(static_cast<double>(report.samples) / seconds_, 0), evaluation != nullptr ? 11 : 32);
  out_ << '\n' << std::flush;
}

void TrainingJson::begin(const runtime::RunFacts& facts) {
  for (const auto& entry : facts.context) document_["context"][entry.name] = entry.value;
  document_["ranks"] = facts.ranks;
  document_["parameters"] = facts.parameters;
  document_["training_samples"] = facts.training_samples;
  document_["test_samples"] = facts.test_samples;
  document_["reference_batch"] = facts.reference_batch;
  document_["evaluations"] = nlohmann::ordered_json::array();
}

void TrainingJson::update(const runtime::StepReport& report) { last_ = report; }

void TrainingJson::evaluation(const runtime::EvaluationReport& report) {
  document_["evaluations"].push_back({{"update", report.update},
                                      {"epoch", report.epoch},
                                      {"scaled_updates", report.progress},
                                      {"batch_size", last_.batch_size},
                                      {"lr", last_.learning_rate},
                                      {"gain", last_.gain},
                                      {"loss", report.loss},
                                      {"accuracy", report.accuracy}});
}

void TrainingJson::end(const runtime::RunEnd& end) {
  document_["end"] = {{"reason", end.reason},
                      {"updates", end.updates},
                      {"seconds", end.seconds},
                      {"samples_per_second", end.samples_per_second}};
  out_ << document_.dump(2) << '\n' << std::flush;
}

}  // namespace rubato::app
