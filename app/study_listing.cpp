// See study_listing.hpp.
#include "app/study_listing.hpp"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <string>

#include "app/progress_line.hpp"
#include "app/study_progress.hpp"

namespace rubato::app {
namespace {

std::string state_text(const CellCourse& course) {
  switch (course.state) {
    case CellState::absent:
      return "to run";
    case CellState::begun:
      return "at update " + std::to_string(course.updates);
    case CellState::finished:
      return "finished";
    case CellState::diverged:
      return "diverged";
  }
  return {};
}

bool is_coordinate(const std::string& option, const StudyCell& cell) {
  const std::string axis = option == "batch-size" ? "batch" : option;
  return axis == "seed" || std::any_of(cell.coordinates.begin(), cell.coordinates.end(),
                                       [&](const auto& one) { return one.axis == axis; });
}

// Not the same in all cells, and not said by the cell's name.
bool tells(const CellOption& option, const StudyCell& cell, const std::vector<StudyCell>& cells) {
  if (is_coordinate(option.name, cell)) return false;
  return std::any_of(cells.begin(), cells.end(), [&](const StudyCell& other) {
    return other.option(option.name) != option.value;
  });
}

std::size_t count_of(CellState state, const std::vector<CellCourse>& courses) {
  return static_cast<std::size_t>(
      std::count_if(courses.begin(), courses.end(),
                    [&](const CellCourse& course) { return course.state == state; }));
}

std::string predicted_text(const std::vector<StudyCell>& cells,
                           const std::vector<CellCourse>& courses) {
  const auto seconds = predicted_rest(cells, courses);
  if (!seconds) return "not known before a cell has finished";
  const bool by_trials = count_of(CellState::finished, courses) == 0;
  return clock_time(*seconds) + (by_trials ? " or so, by one minibatch" : "");
}

// The first of them, among the cells that are to run.
std::string missing_file(const std::vector<StudyCell>& cells,
                         const std::vector<CellCourse>& courses) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!courses[i].is_over() && !cells[i].why_not_tried.empty()) return cells[i].why_not_tried;
  }
  return {};
}

void print_sum(std::ostream& out, const std::vector<StudyCell>& cells,
               const std::vector<CellCourse>& courses) {
  const auto finished = count_of(CellState::finished, courses);
  const auto diverged = count_of(CellState::diverged, courses);
  const auto left = cells.size() - finished - diverged;
  out << cells.size() << (cells.size() == 1 ? " cell: " : " cells: ") << finished << " finished, "
      << diverged << " diverged, " << left << " to run\n";
  if (left == 0) return;
  out << "predicted time: " << predicted_text(cells, courses) << '\n';
  const std::string missing = missing_file(cells, courses);
  if (!missing.empty()) out << "missing: " << missing << '\n';
}

}  // namespace

void print_listing(std::ostream& out, const std::vector<StudyCell>& cells,
                   const std::vector<CellCourse>& courses) {
  std::size_t name_width = 0;
  std::size_t state_width = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    name_width = std::max(name_width, cells[i].name.size());
    state_width = std::max(state_width, state_text(courses[i]).size());
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string line = cells[i].name;
    line.resize(name_width + 2, ' ');
    line += state_text(courses[i]);
    std::string options;
    for (const auto& option : cells[i].options) {
      if (tells(option, cells[i], cells)) options += " --" + option.name + " " + option.value;
    }
    if (!options.empty()) line.resize(name_width + state_width + 3, ' ');
    out << line << options << '\n';
  }
  print_sum(out, cells, courses);
}

}  // namespace rubato::app
