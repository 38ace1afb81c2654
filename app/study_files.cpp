// See study_files.hpp.
#include "app/study_files.hpp"

#include <span>

#include "app/gnuplot.hpp"
#include "app/report_page.hpp"
#include "app/study_markdown.hpp"
#include "runtime/committed_file.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

void commit_text(const fs::path& file, const std::string& text) {
  runtime::commit_file(file, std::as_bytes(std::span(text)));
}

}  // namespace

void StudyFiles::write_study(const std::string& text) const {
  commit_text(directory_ / "study.ini", text);
}

void StudyFiles::write_results(const StudyResults& results) const {
  commit_text(directory_ / "results.md", results_as_markdown(results));
  commit_text(directory_ / "results.csv", results_as_csv(results));
  commit_text(directory_ / "results.json", results_as_json(results));
}

std::string StudyFiles::write_report(const ReportStudy& study) const {
  try {
    commit_text(directory_ / "report.html", report_page({.studies = {study}}));
    return {};
  } catch (const GnuplotError& error) {
    return error.what();
  }
}

}  // namespace rubato::app
