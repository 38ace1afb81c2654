#include "app/report_panels.hpp"

#include <gtest/gtest.h>

#include "report_runs.hpp"

namespace rubato::app {
namespace {

using State = CellState;

TEST(ReportPanels, AreAsFewAsCanBe) {
  const auto few_groups = panels_of(made_study("s", {{"sgd", "32", "1", State::finished, {0.5}},
                                                     {"sgd", "64", "1", State::finished, {0.5}},
                                                     {"sgd", "128", "1", State::finished, {0.5}},
                                                     {"lars", "32", "1", State::finished, {0.5}}}));
  ASSERT_EQ(few_groups.size(), 2U);
  EXPECT_EQ(few_groups[0].heading, "optimizer=sgd");
  ASSERT_EQ(few_groups[0].lines.size(), 3U);
  EXPECT_EQ(few_groups[0].lines[2].label, "batch 128");
  EXPECT_EQ(few_groups[1].lines.size(), 1U);
  const auto many_groups = panels_of(made_study("s", {{"sgd", "32", "1", State::finished, {0.5}},
                                                      {"lars", "32", "1", State::finished, {0.5}},
                                                      {"adam", "32", "1", State::finished, {}}}));
  ASSERT_EQ(many_groups.size(), 1U);
  EXPECT_EQ(many_groups[0].heading, "") << "there is one";
  EXPECT_EQ(many_groups[0].lines[1].label, "optimizer=lars");
}

TEST(ReportPanels, HaveTheMeanOfTheSeedsThatDidNotDiverge) {
  const auto panels = panels_of(made_study("s", {{"sgd", "32", "1", State::finished, {0.25}},
                                                 {"sgd", "32", "2", State::diverged, {0.125}},
                                                 {"sgd", "32", "3", State::finished, {0.75}},
                                                 {"sgd", "64", "1", State::diverged, {0.5}}}));
  const auto& lines = panels.at(0).lines;
  EXPECT_EQ(lines[0].runs, 3U);
  EXPECT_EQ(lines[0].diverged, 1U);
  EXPECT_FALSE(lines[0].is_lost());
  EXPECT_EQ(lines[0].curve.evaluations.at(0).accuracy, 0.5);
  EXPECT_TRUE(lines[1].is_lost());
  EXPECT_EQ(lines[1].curve.evaluations.at(0).accuracy, 0.5);
}

TEST(ReportPanels, HaveALineForEachRun) {
  const auto panel = panel_of(
      {made_run("runs/a", State::finished, {0.5}), made_run("runs/b", State::begun, {0.25})});
  ASSERT_EQ(panel.lines.size(), 2U);
  EXPECT_EQ(panel.lines[1].label, "runs/b");
  EXPECT_EQ(panel.lines[1].curve.updates.size(), 10U);
  EXPECT_FALSE(panel.lines[1].is_lost());
}

}  // namespace
}  // namespace rubato::app
