// A study as its file and its directory say it: the cells, and how far each is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/cell_course.hpp"
#include "app/options.hpp"
#include "app/study_cell.hpp"
#include "app/study_file.hpp"

namespace rubato::app {

class OpenedStudy {
 public:
  // `train` is train_table(), and outlives it. Throws as read_study() and cells_of() do, and
  // UsageError for a cell that has been begun with other options: it is another study's.
  OpenedStudy(const std::string& path, const OptionTable& train);

  // Tries the cells (study_cell.hpp) unless all are over. Throws as cells_of() does.
  void try_cells(const TryCell& try_cell);

  const std::string& name() const noexcept { return file_.name; }
  const std::filesystem::path& directory() const noexcept { return directory_; }
  const std::vector<StudyCell>& cells() const noexcept { return cells_; }
  // The cells', in the same order. One that is over is begun if what may change in a run (its end,
  // say) has changed since.
  const std::vector<CellCourse>& courses() const noexcept { return courses_; }

  std::filesystem::path directory_of(const StudyCell& cell) const;
  Options options_of(const StudyCell& cell) const;  // of rubato train

  void read_course(std::size_t index);  // anew

 private:
  void require_unchanged(const StudyCell& cell) const;
  CellCourse course_of_cell(const StudyCell& cell) const;

  const OptionTable& train_;
  StudyFile file_;
  std::vector<StudyCell> cells_;
  std::filesystem::path directory_;
  std::vector<CellCourse> courses_;
};

}  // namespace rubato::app
