// What a study leaves beside its cells: OUT/study.ini, OUT/results.{md,csv,json} and
// OUT/report.html.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "app/report_content.hpp"
#include "app/study_results.hpp"

namespace rubato::app {

class StudyFiles {
 public:
  explicit StudyFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // study.ini: the text that the study was made from.
  void write_study(const std::string& text) const;

  // Replaces all the others. A report that cannot be drawn is no failure: why_no_report() says why
  // not. Throws runtime::WriteError.
  void write(const StudyResults& results);

  // Of the last write(), a sentence; empty: there is one.
  const std::string& why_no_report() const noexcept { return why_no_report_; }

 private:
  void write_report(const StudyResults& results);
  const ReportRun& run_of(const CellResult& result);

  std::filesystem::path directory_;
  std::map<std::string, ReportRun> runs_;  // by cell: reading all again after each would take long
  std::string why_no_report_;
};

}  // namespace rubato::app
