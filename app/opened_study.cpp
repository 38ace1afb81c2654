// See opened_study.hpp.
#include "app/opened_study.hpp"

#include <algorithm>

#include "app/failure.hpp"
#include "app/file_text.hpp"
#include "app/study_grid.hpp"

namespace rubato::app {

OpenedStudy::OpenedStudy(const std::string& path, const OptionTable& train)
    : train_(train),
      file_(read_study(path, train)),
      cells_(cells_of(file_, train)),
      directory_(file_.directory) {
  for (const auto& cell : cells_) {
    require_unchanged(cell);
    courses_.push_back(course_of_cell(cell));
  }
}

void OpenedStudy::try_cells(const TryCell& try_cell) {
  if (std::ranges::all_of(courses_, &CellCourse::is_over)) return;
  cells_ = cells_of(file_, train_, try_cell);
}

std::filesystem::path OpenedStudy::directory_of(const StudyCell& cell) const {
  return directory_ / "cells" / cell.name;
}

Options OpenedStudy::options_of(const StudyCell& cell) const {
  return train_.parse(words_of(cell, directory_of(cell)));
}

void OpenedStudy::read_course(std::size_t index) {
  courses_.at(index) = course_of_cell(cells_.at(index));
}

void OpenedStudy::require_unchanged(const StudyCell& cell) const {
  const auto config = directory_of(cell) / "config.ini";
  if (!std::filesystem::exists(config)) return;
  try {
    train_.require_unchanged(options_of(cell), file_text(config));
  } catch (const UsageError& error) {
    throw UsageError(directory_of(cell).string() + ": " + error.what() +
                     " (give the study another out = DIRECTORY)");
  }
}

CellCourse OpenedStudy::course_of_cell(const StudyCell& cell) const {
  CellCourse course = course_of(directory_of(cell));
  if (!course.is_over()) return course;
  const auto config = file_text(directory_of(cell) / "config.ini");
  if (config != options_of(cell).as_ini()) course.state = CellState::begun;
  return course;
}

}  // namespace rubato::app
