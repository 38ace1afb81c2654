// See study_markdown.hpp.
#include "app/study_markdown.hpp"

#include "app/option_value.hpp"
#include "app/study_table.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t accuracy_column = 2;

std::string line_of(StudyRow row) {
  if (row.is_baseline) row.cells[accuracy_column] += "<br>(base line)";
  return "| " + joined(row.cells, " | ") + " |\n";
}

}  // namespace

std::string results_as_markdown(const StudyResults& results) {
  std::string text = "# " + results.name + "\n";
  const std::string baseline = baseline_sentence(results);
  if (!baseline.empty()) text += "\n" + baseline + "\n";
  for (const auto& table : tables_of(results)) {
    if (!table.group.empty()) text += "\n## " + table.group + "\n";
    text += "\n| " + joined(table.heading, " | ") + " |\n|:---:|:---:|:---:|:---:|:---:|:---:|\n";
    for (const auto& row : table.rows) text += line_of(row);
  }
  return text;
}

}  // namespace rubato::app
