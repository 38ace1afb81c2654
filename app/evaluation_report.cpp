// See evaluation_report.hpp.
#include "app/evaluation_report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/checkpoint_files.hpp"
#include "app/number_text.hpp"

namespace rubato::app {
namespace {

using Json = nlohmann::ordered_json;

// Four digits after the point; of what diverges, so many as a column holds.
std::string loss_text(double loss) {
  constexpr double widest = 1e6;
  std::ostringstream text;
  if (std::abs(loss) < widest) text << std::fixed;
  text << std::setprecision(4) << loss;
  return text.str();
}

std::string whose(const EvaluationFacts& facts) {
  if (!facts.is_runs_test_set) return "";
  return *facts.is_runs_test_set ? ", those of the training" : ", not those of the training";
}

void print_classes(std::ostream& out, const std::vector<runtime::Evaluator::ClassResult>& classes) {
  out << "\n   label   samples   correct   accuracy        loss\n";
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const auto& [samples, correct, loss_sum] = classes[label];
    const auto all = static_cast<double>(samples);
    out << std::setw(8) << label << std::setw(10) << samples << std::setw(10) << correct
        << std::setw(11) << (samples > 0 ? percent(static_cast<double>(correct) / all) : "-")
        << std::setw(12) << (samples > 0 ? loss_text(loss_sum / all) : "-") << '\n';
  }
}

void print_history(std::ostream& out, const std::vector<PastEvaluation>& history) {
  const auto best = best_of(history);
  out << "\nduring training: ";
  if (!best) {
    out << "no evaluation\n";
    return;
  }
  out << history.size() << (history.size() == 1 ? " evaluation" : " evaluations")
      << ", the best after update " << best->update << " with " << percent(best->accuracy)
      << "\n    update     epoch   accuracy        loss\n";
  for (const PastEvaluation& one : history) {
    out << std::setw(10) << one.update << std::setw(10) << std::fixed << std::setprecision(2)
        << one.epoch << std::defaultfloat << std::setw(11) << percent(one.accuracy) << std::setw(12)
        << loss_text(one.loss) << '\n';
  }
}

Json json_of(const PastEvaluation& one) {
  return {
      {"update", one.update}, {"epoch", one.epoch}, {"accuracy", one.accuracy}, {"loss", one.loss}};
}

Json json_of(const std::vector<runtime::Evaluator::ClassResult>& classes) {
  Json list = Json::array();
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const auto& [samples, correct, loss_sum] = classes[label];
    const auto all = static_cast<double>(samples);
    list.push_back({{"label", label},
                    {"samples", samples},
                    {"correct", correct},
                    {"accuracy", static_cast<double>(correct) / all},  // of none: null
                    {"loss", loss_sum / all}});
  }
  return list;
}

}  // namespace

std::optional<PastEvaluation> best_of(const std::vector<PastEvaluation>& history) {
  const auto best = std::ranges::max_element(history, {}, &PastEvaluation::accuracy);
  if (best == history.end()) return std::nullopt;
  return *best;
}

void print_as_text(std::ostream& out, const EvaluationFacts& facts) {
  out << facts.file << ": update " << facts.update << ", epoch " << facts.epoch << ", "
      << facts.training_samples << " training samples used\n"
      << printable(facts.model) << ", " << facts.parameters << " parameters; "
      << printable(facts.data) << ", " << facts.test_samples << " test samples" << whose(facts)
      << '\n'
      << "accuracy " << percent(facts.result.all.accuracy) << " (" << facts.result.correct << " of "
      << facts.test_samples << "), loss " << loss_text(facts.result.all.loss) << '\n';
  print_classes(out, facts.result.classes);
  if (facts.history) print_history(out, *facts.history);
}

void print_as_json(std::ostream& out, const EvaluationFacts& facts) {
  Json document{{"file", facts.file},   {"update", facts.update},
                {"epoch", facts.epoch}, {"training_samples_used", facts.training_samples},
                {"model", facts.model}, {"parameters", facts.parameters},
                {"data", facts.data},   {"test_samples", facts.test_samples}};
  if (facts.is_runs_test_set) document["is_test_set_of_training"] = *facts.is_runs_test_set;
  document["accuracy"] = facts.result.all.accuracy;
  document["correct"] = facts.result.correct;
  document["loss"] = facts.result.all.loss;
  document["classes"] = json_of(facts.result.classes);
  if (facts.history) {
    document["history"] = Json::array();
    for (const PastEvaluation& one : *facts.history) document["history"].push_back(json_of(one));
    if (const auto best = best_of(*facts.history)) document["best"] = json_of(*best);
  }
  out << document.dump(1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) << '\n';
}

}  // namespace rubato::app
