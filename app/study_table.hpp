// The results of a study as tables in the form of the published study's: one for each group, a row
// for each batch size (or trace), all its seeds in one.
#pragma once

#include <string>
#include <vector>

#include "app/study_results.hpp"

namespace rubato::app {

struct StudyRow {
  std::vector<std::string> cells;
  bool is_baseline = false;
};

struct StudyTable {
  std::string group;  // empty: the study has one
  std::vector<std::string> heading;
  std::vector<StudyRow> rows;
};

std::vector<StudyTable> tables_of(const StudyResults& results);

// "Base line: 75.00 %, the best of optimizer=sgd, batch 32."; empty where there is none.
std::string baseline_sentence(const StudyResults& results);

bool is_of_traces(const StudyResults& results);

// Of the cells, each once, in their order.
std::vector<std::string> groups_of(const StudyResults& results);

}  // namespace rubato::app
