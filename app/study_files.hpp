// What a study leaves beside its cells: OUT/study.ini, OUT/results.{md,csv,json} and
// OUT/report.html.
#pragma once

#include <filesystem>
#include <string>

#include "app/report_content.hpp"

namespace rubato::app {

class StudyFiles {
 public:
  explicit StudyFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // study.ini: the text that the study was made from.
  void write_study(const std::string& text) const;

  // Replaces the results. Throws runtime::WriteError, as the next.
  void write_results(const StudyResults& results) const;

  // Replaces the report, which takes a second and more. Where it cannot be drawn, that is no
  // failure: a sentence that says why not; empty: it is there.
  std::string write_report(const ReportStudy& study) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace rubato::app
