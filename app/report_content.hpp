// What a report is made of: runs and studies, read from their directories.
#pragma once

#include <filesystem>
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

// The study that `directory` holds. `courses` are the cells', in the same order.
ReportStudy report_study(const std::filesystem::path& directory, const std::string& name,
                         const std::vector<StudyCell>& cells,
                         const std::vector<CellCourse>& courses);

// Each directory is a run's or a study's. Throws data::MissingFileError for one that is not there
// or neither of them; data::ContentError for a damaged study.ini, for a study no cell of which is
// over, and for a run without an update: there is nothing to draw.
ReportContent read_content(const std::vector<std::string>& directories);

}  // namespace rubato::app
