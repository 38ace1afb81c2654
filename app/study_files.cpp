// See study_files.hpp.
#include "app/study_files.hpp"

#include <fstream>
#include <iterator>
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

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

void StudyFiles::write_study(const std::string& text) const {
  commit_text(directory_ / "study.ini", text);
}

void StudyFiles::write(const StudyResults& results) {
  commit_text(directory_ / "results.md", results_as_markdown(results));
  commit_text(directory_ / "results.csv", results_as_csv(results));
  commit_text(directory_ / "results.json", results_as_json(results));
  write_report(results);
}

void StudyFiles::write_report(const StudyResults& results) {
  ReportStudy study{results, text_of(directory_ / "study.ini"), {}};
  for (const auto& result : results.cells) study.runs.push_back(run_of(result));
  try {
    commit_text(directory_ / "report.html", report_page({.studies = {study}}));
    why_no_report_.clear();
  } catch (const GnuplotError& error) {
    why_no_report_ = error.what();
  }
}

// A cell whose end has been put off has more updates.
const ReportRun& StudyFiles::run_of(const CellResult& result) {
  auto found = runs_.find(result.cell.name);
  if (found == runs_.end() || found->second.course.updates != result.updates) {
    found = runs_.insert_or_assign(result.cell.name, report_run(directory_, result)).first;
  }
  return found->second;
}

}  // namespace rubato::app
