// See report_content.hpp.
#include "app/report_content.hpp"

#include <utility>

#include "app/file_text.hpp"
#include "app/study_grid.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

ReportRun run_of(const fs::path& directory, const std::string& name, CellCourse course) {
  return {.name = name,
          .group = {},
          .batch = {},
          .course = std::move(course),
          .curve = curve_of(directory),
          .configuration = file_text(directory / "config.ini")};
}

ReportStudy read_study_of(const fs::path& directory) {
  const OptionTable train = train_table();
  const StudyFile file = read_study((directory / "study.ini").string(), train);
  const auto cells = cells_of(file, train);
  std::vector<CellCourse> courses;
  for (const auto& cell : cells) courses.push_back(course_of(directory / "cells" / cell.name));
  auto study = report_study(directory, file.name, cells, courses);
  if (!study.runs.empty()) return study;
  throw data::ContentError(directory.string() +
                           " is a study none of whose cells has come to its end: there is nothing"
                           " to draw yet");
}

}  // namespace

ReportStudy report_study(const fs::path& directory, const std::string& name,
                         const std::vector<StudyCell>& cells,
                         const std::vector<CellCourse>& courses) {
  ReportStudy study{results_of(name, cells, courses), file_text(directory / "study.ini"), {}};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!courses[i].is_over()) continue;
    auto run = run_of(directory / "cells" / cells[i].name, cells[i].name, courses[i]);
    run.group = cells[i].group;
    run.batch = cells[i].batch;
    study.runs.push_back(std::move(run));
  }
  return study;
}

ReportContent read_content(const std::vector<std::string>& directories) {
  ReportContent content;
  for (const auto& name : directories) {
    const fs::path directory = name;
    if (!fs::is_directory(directory)) {
      throw data::MissingFileError(
          name + (fs::exists(directory) ? " is no directory" : " does not exist") +
          ": rubato report draws directories of runs (rubato train --out) and of studies");
    }
    if (fs::exists(directory / "study.ini")) {
      content.studies.push_back(read_study_of(directory));
      continue;
    }
    if (!fs::exists(directory / "metrics.jsonl")) {
      throw data::MissingFileError(
          name +
          " has neither metrics.jsonl nor study.ini: it is the directory of no run (rubato"
          " train --out) and of no study");
    }
    content.runs.push_back(run_of(directory, name, course_of(directory)));
    if (content.runs.back().curve.updates.empty()) {
      throw data::ContentError((directory / "metrics.jsonl").string() +
                               " tells of no update yet: there is nothing to draw");
    }
  }
  return content;
}

}  // namespace rubato::app
