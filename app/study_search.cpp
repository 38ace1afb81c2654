// See study_search.hpp.
#include "app/study_search.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "app/failure.hpp"
#include "app/option_value.hpp"
#include "app/spelling.hpp"
#include "app/study_grid.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t most_named_cells = 4;

struct CellCondition {
  std::string name;
  std::string value;
};

std::vector<CellCondition> conditions_in(const std::string& text) {
  std::vector<CellCondition> conditions;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      throw UsageError("--where: \"" + word +
                       "\" is not of the form NAME=VALUE (example: batch=1024,optimizer=lars)");
    }
    conditions.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return conditions;
}

// "batch" is the axis of the option batch-size, whatever else varies.
std::string value_of(const StudyCell& cell, const std::string& name) {
  const auto found = std::ranges::find(cell.coordinates, name, &CellCoordinate::axis);
  if (found != cell.coordinates.end()) return found->value;
  return name == "batch" ? cell.batch : cell.value(name);
}

// As it is called in the cell's name, or as the file has it; numbers as numbers.
bool is_so(const StudyCell& cell, const CellCondition& condition) {
  const std::string value = value_of(cell, condition.name);
  if (value == condition.value || cell.option(condition.name) == condition.value) return true;
  const auto number = parse_whole<double>(condition.value);
  return number && number == parse_whole<double>(value);
}

std::vector<std::string> names_of(const std::vector<StudyCell>& cells) {
  std::vector<std::string> names{"batch"};
  for (const auto& cell : cells) {
    for (const auto& one : cell.coordinates) names.push_back(one.axis);
    for (const auto& one : cell.options) names.push_back(one.name);
    for (const auto& one : cell.defaults) names.push_back(one.name);
  }
  std::ranges::sort(names);
  return names;
}

void require_known(const std::string& name, const std::vector<std::string>& known) {
  if (std::ranges::binary_search(known, name)) return;
  const auto close = nearest(name, known);
  throw UsageError("--where: the cells of this study have no \"" + name + '"' +
                   (close ? "; did you mean \"" + *close + "\"?" : std::string()));
}

void require_one(const std::vector<StudyCell>& found, const std::string& conditions,
                 const std::vector<StudyCell>& all) {
  if (found.size() == 1) return;
  if (found.empty()) {
    throw UsageError("--where " + conditions + ": no cell of the study is so (of " +
                     std::to_string(all.size()) + " cells; the first is " + all.front().name + ")");
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(found.size(), most_named_cells); ++i) {
    names += (i == 0 ? "" : " ") + found[i].name;
  }
  throw UsageError("--where " + conditions + ": " + std::to_string(found.size()) +
                   " cells are so (" + names + (found.size() > most_named_cells ? " ..." : "") +
                   "); say more of the one that is meant");
}

}  // namespace

std::filesystem::path find_cell(const std::filesystem::path& study_directory,
                                const std::string& conditions) {
  const auto file = study_directory / "study.ini";
  if (!std::filesystem::exists(file)) {
    throw data::MissingFileError(file.string() +
                                 " does not exist: --where finds a cell of a study, in the"
                                 " directory that rubato study has made");
  }
  const OptionTable train = train_table();
  const auto all = cells_of(read_study(file.string(), train), train);
  const auto known = names_of(all);
  auto found = all;
  for (const auto& condition : conditions_in(conditions)) {
    require_known(condition.name, known);
    std::erase_if(found, [&](const StudyCell& cell) { return !is_so(cell, condition); });
  }
  require_one(found, conditions, all);
  return study_directory / "cells" / found.front().name;
}

}  // namespace rubato::app
