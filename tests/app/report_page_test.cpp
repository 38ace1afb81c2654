// The pictures are drawn by a program that stands in for gnuplot: command_report_test.py has the
// real one.
#include "app/report_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "report_runs.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using State = CellState;

class Page : public testing::Test {
 protected:
  void SetUp() override {
    path_ = ::getenv("PATH");
    const auto file = directory_.write("gnuplot", "#!/bin/sh\necho \"<svg><g id='a'/></svg>\"\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    ::setenv("PATH", (directory_.path().string() + ":" + path_).c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

 private:
  TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(Page, OfAStudyHasItsResults) {
  const auto page =
      report_page({.studies = {made_study("a <b>", {{"sgd", "32", "1", State::finished, {0.5}},
                                                    {"sgd", "32", "2", State::finished, {0.25}},
                                                    {"sgd", "64", "1", State::diverged, {}}})}});
  EXPECT_THAT(page, HasSubstr("<title>a &lt;b&gt; - Rubato report</title>"));
  EXPECT_THAT(page, HasSubstr("<h2>Study a &lt;b&gt;</h2>\n<p>3 cells are over, 1 of them"));
  EXPECT_THAT(page, HasSubstr("<svg role=\"img\" aria-label=\"Best test accuracy of a run against"
                              " its batch size. The scale is logarithmic in what is missing to"
                              " 100 %. Mean over the seeds that did not diverge; bars span them."
                              " A cross:"));
  EXPECT_THAT(page, HasSubstr("first reaches 36.50 %, one point below the base line"));
  EXPECT_THAT(page, HasSubstr("<tr class=\"emphasised\"><td>32</td>"));
  EXPECT_THAT(page, HasSubstr("<td>(nan)</td>"));
  EXPECT_THAT(page, HasSubstr("batch 64 (diverged)"));
  EXPECT_THAT(
      page, HasSubstr("Constant along every run: training loss, batch size, learning rate, gain."));
  EXPECT_THAT(page, HasSubstr("<pre>[study]\nname = a &lt;b&gt;\n</pre>"));
  EXPECT_THAT(page, HasSubstr("<dt>build type</dt><dd>Release</dd>"));
  EXPECT_THAT(page, HasSubstr("id='f1-a'"));
  EXPECT_THAT(page, HasSubstr("id='f9-a'"));
}

TEST_F(Page, OfRunsHasATableOfThem) {
  auto begun = made_run("runs/b", State::begun, {0.25, 0.485});
  begun.configuration += "seed = 2\n";
  const auto page = report_page({.runs = {made_run("runs/a", State::finished, {0.495}), begun}});
  EXPECT_THAT(page, HasSubstr("<title>runs/a, runs/b - Rubato report</title>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\">Time to 48.50 %</th>"));
  EXPECT_THAT(page, HasSubstr("<td>runs/a</td><td>finished</td><td>10</td><td>49.50 %</td>"
                              "<td>1.00</td><td>0.5050</td><td>10.00 s</td><td>10.00 s</td>"));
  EXPECT_THAT(page, HasSubstr("<td>runs/b</td><td>not at its end</td>"));
  EXPECT_THAT(page, HasSubstr("<td>runs/b</td><td>2</td>")) << "options in which they differ";
  EXPECT_THAT(page, Not(HasSubstr("Base line")));
}

TEST_F(Page, IsTheSameForTheSame) {
  const ReportContent content{.runs = {made_run("a", State::finished, {0.5})}};
  EXPECT_EQ(report_page(content), report_page(content));
}

TEST_F(Page, IsPossibleWithoutEvaluations) {
  const auto page = report_page({.runs = {made_run("a", State::diverged, {})}});
  EXPECT_THAT(page, HasSubstr("<td>a</td><td>diverged</td><td>0</td><td>-</td><td>-</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<figure>")));
}

}  // namespace
}  // namespace rubato::app
