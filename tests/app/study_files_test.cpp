#include "app/study_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "report_runs.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;

TEST(StudyFiles, AreWrittenWithoutGnuplotToo) {
  const TemporaryDirectory directory;
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", directory.path().c_str(), 1);
  const StudyFiles files(directory.path());
  files.write_study("[study]\n");
  const auto study = made_study("batches", {{"sgd", "32", "1", CellState::finished, {0.5}}});
  files.write_results(study.results);
  const auto why_no_report = files.write_report(study);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(why_no_report, HasSubstr("Debian package gnuplot-nox"));
  const auto text_of = [&](const std::string& name) {
    std::ifstream in(directory.path() / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(text_of("study.ini"), "[study]\n");
  EXPECT_THAT(text_of("results.md"), HasSubstr("# batches"));
  EXPECT_THAT(text_of("results.csv"), HasSubstr("best_accuracy"));
  EXPECT_THAT(text_of("results.json"), HasSubstr("\"study\": \"batches\""));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "report.html"));
}

}  // namespace
}  // namespace rubato::app
