// Columns are as wide as the numbers that may stand in them, so that rows can be printed one by
// one.
#include "app/training_report.hpp"

#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <utility>

#include "app/number_text.hpp"

namespace rubato::app {
namespace {

std::string significant(double value, int digits) {
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

// As `fixed` where that leaves a blank in a column of this width; a run that diverges shows numbers
// that do not.
std::string fixed_within(std::size_t width, double value, int digits) {
  const std::string text = fixed(value, digits);
  return text.size() < width ? text : significant(value, 3);
}

}  // namespace

TrainingTable::TrainingTable(std::ostream& out, std::optional<std::uint64_t> log_every,
                             std::function<void()> before_printing)
    : out_(out), log_every_(log_every), before_printing_(std::move(before_printing)) {}

void TrainingTable::begin(const runtime::RunFacts& facts) {
  has_tests_ = facts.test_samples > 0;
  total_updates_ = facts.total_updates;
  first_update_ = facts.start.update;
  ranks_ = facts.ranks;
  out_ << facts.model << ", " << facts.parameters << " parameters; " << facts.training_samples
       << " training samples, "
       << (has_tests_ ? std::to_string(facts.test_samples) + " test samples" : "no test set")
       << "; reference batch " << facts.reference_batch << "; " << facts.ranks
       << (facts.ranks == 1 ? " rank" : " ranks") << '\n';
  out_ << "   update   epoch   batch        lr     gain   progress      loss";
  if (has_tests_) out_ << "  test loss  accuracy";
  out_ << "  samples/s\n" << std::flush;
}

void TrainingTable::update(const runtime::StepReport& report) {
  rate_.add(report);
  last_ = report;
  const bool is_nth = log_every_ && report.update % *log_every_ == 0;
  const bool is_end = ends_epoch_or_run(report);
  if (is_end && has_tests_) return;  // the evaluation's row comes next
  if (is_nth || is_end) print_row(report, nullptr);
}

bool TrainingTable::ends_epoch_or_run(const runtime::StepReport& report) const {
  return report.epochs_done == std::floor(report.epochs_done) || report.update == total_updates_;
}

void TrainingTable::evaluation(const runtime::EvaluationReport& report) {
  print_row(last_, &report);
}

void TrainingTable::end(const runtime::RunEnd& end) {
  before_printing_();
  out_ << end.reason << ": " << end.updates << (end.updates == 1 ? " update" : " updates");
  if (first_update_ > 0) out_ << ", " << end.updates - first_update_ << " of them now,";
  out_ << " in " << fixed(end.seconds, 2) << " s, " << fixed(end.samples_per_second, 0)
       << " samples/s";
  if (ranks_ > 1) out_ << ", waiting " << fixed(100 * end.waiting_share, 1) << " %";
  out_ << '\n';
  if (const auto& slow = end.slow_rank) {
    out_ << "rank " << slow->rank << " on " << slow->host << " is slow: a minibatch takes it "
         << fixed(slow->ratio, 1) << " times as long as the others (median)\n";
  }
  out_ << std::flush;
}

void TrainingTable::print_row(const runtime::StepReport& report,
                              const runtime::EvaluationReport* evaluation) {
  before_printing_();
  const auto cell = [this](const std::string& text, int width) {
    out_ << std::setw(width) << text;
  };
  cell(std::to_string(report.update), 9);
  cell(fixed(report.epochs_done, 2), 8);
  cell(std::to_string(report.batch_size), 8);
  cell(significant(report.learning_rate, 4), 10);
  cell(fixed_within(9, report.gain, 3), 9);
  cell(fixed_within(11, report.scaled_updates, 1), 11);
  cell(fixed_within(10, report.loss, 4), 10);
  if (has_tests_) {
    cell(evaluation != nullptr ? fixed_within(11, evaluation->loss, 4) : "", 11);
    cell(evaluation != nullptr ? fixed(100 * evaluation->accuracy, 2) + " %" : "", 10);
  }
  const auto rate = rate_.take();
  cell(rate ? fixed(*rate, 0) : "-", 11);
  out_ << '\n' << std::flush;
}

TrainingJson::TrainingJson(std::ostream& out, std::optional<std::uint64_t> log_every,
                           std::function<void()> before_printing)
    : out_(out), log_every_(log_every), before_printing_(std::move(before_printing)) {}

void TrainingJson::begin(const runtime::RunFacts& facts) {
  for (const auto& entry : facts.context) document_["context"][entry.name] = entry.value;
  document_["ranks"] = facts.ranks;
  document_["parameters"] = facts.parameters;
  document_["training_samples"] = facts.training_samples;
  document_["test_samples"] = facts.test_samples;
  document_["reference_batch"] = facts.reference_batch;
  if (log_every_) document_["updates"] = nlohmann::ordered_json::array();
  document_["evaluations"] = nlohmann::ordered_json::array();
}

void TrainingJson::update(const runtime::StepReport& report) {
  last_ = report;
  if (!log_every_ || report.update % *log_every_ != 0) return;
  document_["updates"].push_back({{"update", report.update},
                                  {"epoch", report.epochs_done},
                                  {"scaled_updates", report.scaled_updates},
                                  {"batch_size", report.batch_size},
                                  {"lr", report.learning_rate},
                                  {"gain", report.gain},
                                  {"loss", report.loss},
                                  {"accuracy", report.accuracy},
                                  {"seconds", report.seconds},
                                  {"imbalance", report.imbalance}});
}

void TrainingJson::decision(const runtime::DecisionReport& report) {
  if (!report.changes) return;
  const runtime::BatchDecision& decision = report.decision;
  document_["decisions"].push_back({{"update", decision.update},
                                    {"epoch", decision.epoch},
                                    {"batch_size", decision.configuration.batch},
                                    {"minibatch", decision.configuration.minibatch},
                                    {"predicted_goodput", decision.predicted_goodput},
                                    {"current_goodput", decision.current_goodput},
                                    {"noise_scale", decision.noise_scale},
                                    {"reason", decision.reason}});
}

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
                      {"samples_per_second", end.samples_per_second},
                      {"waiting_share", end.waiting_share},
                      {"waiting_seconds", end.waiting_seconds}};
  if (end.slow_rank) document_["end"]["slow_rank"] = *end.slow_rank;
  before_printing_();
  out_ << document_.dump(2) << '\n' << std::flush;
}

}  // namespace rubato::app
