// See study_table.hpp.
#include "app/study_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/number_text.hpp"

namespace rubato::app {
namespace {

using Results = std::vector<const CellResult*>;

// Of one batch size in one group, a result for each seed.
struct Row {
  std::string batch;
  Results results;
};

// "90.40 %", of several "90.40 % (90.11 to 90.62)"; empty for none.
std::string accuracy_text(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const std::string mean = percent(sum / static_cast<double>(values.size()));
  if (values.size() == 1) return mean;
  return mean + " (" + fixed(100 * *least, 2) + " to " + fixed(100 * *most, 2) + ")";
}

std::string mean_seconds(const std::vector<double>& values) {
  if (values.empty()) return "-";
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return fixed(sum / static_cast<double>(values.size()), 1) + " s";
}

std::vector<Row> rows_of(const StudyResults& results, const std::string& group) {
  std::vector<Row> rows;
  for (const auto& result : results.cells) {
    if (result.cell.group != group) continue;
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& one) { return one.batch == result.cell.batch; });
    if (row == rows.end()) row = rows.insert(row, {.batch = result.cell.batch, .results = {}});
    row->results.push_back(&result);
  }
  return rows;
}

Results without_diverged(const Results& results) {
  Results finished;
  std::copy_if(results.begin(), results.end(), std::back_inserter(finished),
               [](const CellResult* result) { return !result->has_diverged; });
  return finished;
}

using Which = std::optional<CellEvaluation> CellResult::*;

std::vector<double> values_of(const Results& results, Which which, double CellEvaluation::*field) {
  std::vector<double> values;
  for (const auto* result : results) {
    const auto& evaluation = result->*which;
    if (evaluation) values.push_back((*evaluation).*field);
  }
  return values;
}

// Of those that came to their end, if any did.
std::string accuracy_of(const Results& results, Which which) {
  const auto finished = without_diverged(results);
  const auto& shown = finished.empty() ? results : finished;
  std::string text = accuracy_text(values_of(shown, which, &CellEvaluation::accuracy));
  const auto diverged = results.size() - finished.size();
  if (diverged == 0) return text.empty() ? "-" : text;
  if (!text.empty()) text += ' ';
  if (finished.empty()) return text + "(nan)";
  return text + '(' + std::to_string(diverged) + " of " + std::to_string(results.size()) + " nan)";
}

StudyRow row_of(const Row& row, bool is_baseline) {
  const auto finished = without_diverged(row.results);
  std::vector<double> training;
  for (const auto* result : finished) training.push_back(result->training_seconds);
  const std::string& rate = row.results.front()->cell.value("lr");
  return {
      .cells = {row.batch, rate.empty() ? "-" : rate, accuracy_of(row.results, &CellResult::best),
                accuracy_of(row.results, &CellResult::closest),
                mean_seconds(values_of(finished, &CellResult::closest, &CellEvaluation::seconds)),
                mean_seconds(training)},
      .is_baseline = is_baseline};
}

}  // namespace

bool is_of_traces(const StudyResults& results) {
  return !results.cells.empty() && !results.cells[0].cell.option("trace").empty();
}

std::vector<std::string> groups_of(const StudyResults& results) {
  std::vector<std::string> groups;
  for (const auto& result : results.cells) {
    const bool is_new = std::find(groups.begin(), groups.end(), result.cell.group) == groups.end();
    if (is_new) groups.push_back(result.cell.group);
  }
  return groups;
}

std::string baseline_sentence(const StudyResults& results) {
  const auto& baseline = results.baseline;
  if (!baseline) return {};
  return "Base line: " + percent(baseline->accuracy) + ", the best of " +
         (baseline->group.empty() ? "all" : baseline->group) + ", " +
         (is_of_traces(results) ? "trace " : "batch ") + baseline->batch + ".";
}

std::vector<StudyTable> tables_of(const StudyResults& results) {
  std::vector<StudyTable> tables;
  const auto& baseline = results.baseline;
  for (const auto& group : groups_of(results)) {
    StudyTable table{
        .group = group,
        .heading = {is_of_traces(results) ? "Trace" : "Batch", "lr", "top-1 accuracy, best",
                    "closest to the base line", "Time to it", "Time to train"},
        .rows = {}};
    for (const auto& row : rows_of(results, group)) {
      const bool is_baseline = baseline && baseline->group == group && baseline->batch == row.batch;
      table.rows.push_back(row_of(row, is_baseline));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace rubato::app
