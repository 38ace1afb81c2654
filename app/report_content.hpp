// What a report is made of: runs and studies, read from their directories.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cell_course.hpp"
#include "app/run_curve.hpp"
#include "app/study_results.hpp"

namespace rubato::app {

struct ReportRun {
  std::string name;   // of the cell; of another run its directory, as it was given
  std::string group;  // of a cell, as the next
  std::string batch;
  CellCourse course;
  RunCurve curve;
  std::string configuration;  // config.ini
};

struct ReportStudy {
  StudyResults results;
  std::string file;             // the text of study.ini
  std::vector<ReportRun> runs;  // of results.cells
};

struct ReportContent {
  std::vector<ReportStudy> studies{};
  std::vector<ReportRun> runs{};  // of no study
};

ReportRun report_run(const std::filesystem::path& directory, const std::string& name);

// The run of a cell that is over.
ReportRun report_run(const std::filesystem::path& study_directory, const CellResult& result);

// Each directory is a run's or a study's. Throws data::MissingFileError for one that is not there
// or neither of them; data::ContentError for a damaged study.ini, for a study no cell of which is
// over, and for a run without an update: there is nothing to draw.
ReportContent read_content(const std::vector<std::string>& directories);

// The seconds of training until the first evaluation with at least this accuracy (of 1).
std::optional<double> seconds_to(const CellCourse& course, double accuracy);

// The best accuracy of a course, the first of equals; none without an evaluation.
std::optional<CellEvaluation> best_of(const CellCourse& course);

}  // namespace rubato::app
