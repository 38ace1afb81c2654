// See report_content.hpp.
#include "app/report_content.hpp"

#include <cmath>
#include <fstream>
#include <iterator>

#include "app/study_grid.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

ReportStudy read_study_of(const fs::path& directory) {
  const auto file = directory / "study.ini";
  const OptionTable train = train_table();
  const StudyFile study = read_study(file.string(), train);
  const auto cells = cells_of(study, train);
  std::vector<CellCourse> courses;
  for (const auto& cell : cells) courses.push_back(course_of(directory / "cells" / cell.name));
  ReportStudy found{results_of(study.name, cells, courses), text_of(file), {}};
  for (const auto& result : found.results.cells) {
    found.runs.push_back(report_run(directory, result));
  }
  if (!found.runs.empty()) return found;
  throw data::ContentError(directory.string() +
                           " is a study none of whose cells has come to its end: there is nothing"
                           " to draw yet");
}

}  // namespace

ReportRun report_run(const fs::path& directory, const std::string& name) {
  return {.name = name,
          .group = {},
          .batch = {},
          .course = course_of(directory),
          .curve = curve_of(directory),
          .configuration = text_of(directory / "config.ini")};
}

ReportRun report_run(const fs::path& study_directory, const CellResult& result) {
  auto run = report_run(study_directory / "cells" / result.cell.name, result.cell.name);
  run.group = result.cell.group;
  run.batch = result.cell.batch;
  return run;
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
    content.runs.push_back(report_run(directory, name));
    if (content.runs.back().curve.updates.empty()) {
      throw data::ContentError((directory / "metrics.jsonl").string() +
                               " tells of no update yet: there is nothing to draw");
    }
  }
  return content;
}

std::optional<double> seconds_to(const CellCourse& course, double accuracy) {
  for (const auto& evaluation : course.evaluations) {
    if (evaluation.accuracy >= accuracy) return evaluation.seconds;
  }
  return std::nullopt;
}

std::optional<CellEvaluation> best_of(const CellCourse& course) {
  std::optional<CellEvaluation> best;
  for (const auto& evaluation : course.evaluations) {
    if (std::isnan(evaluation.accuracy)) continue;
    if (!best || evaluation.accuracy > best->accuracy) best = evaluation;
  }
  return best;
}

}  // namespace rubato::app
