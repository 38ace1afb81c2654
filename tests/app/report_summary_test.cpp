#include "app/report_summary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report_runs.hpp"

namespace rubato::app {
namespace {

using State = CellState;

TEST(ReportSummary, HasMeanAndRangeOfTheSeeds) {
  const auto study = made_study("s", {{"sgd", "32", "1", State::finished, {0.25, 0.5}},
                                      {"sgd", "32", "2", State::finished, {0.75}},
                                      {"sgd", "32", "3", State::diverged, {0.875}},
                                      {"sgd", "64", "1", State::diverged, {0.125}},
                                      {"lars", "64", "1", State::finished, {0.75}}});
  const auto figure = accuracy_figure(study);
  EXPECT_EQ(figure.form, FigureForm::points);
  EXPECT_EQ(figure.x.scale, AxisScale::logarithmic);
  ASSERT_EQ(figure.x.ticks.size(), 2U);
  EXPECT_EQ(figure.x.ticks[1].place, 64);
  ASSERT_EQ(figure.lines.size(), 2U);
  const auto& sgd = figure.lines[0];
  EXPECT_EQ(sgd.label, "optimizer=sgd");
  EXPECT_EQ(sgd.points[0].x, 32);
  EXPECT_EQ(sgd.points[0].y, 62.5);
  EXPECT_EQ(sgd.points[0].low, 50);
  EXPECT_EQ(sgd.points[0].high, 75);
  EXPECT_TRUE(std::isnan(sgd.points[1].y)) << "every seed diverged";
  ASSERT_EQ(sgd.lost.size(), 1U);
  EXPECT_EQ(sgd.lost[0].x, 64);
  EXPECT_EQ(sgd.lost[0].y, 12.5);
  EXPECT_TRUE(std::isnan(figure.lines[1].points[0].y)) << "there is no such cell";
  EXPECT_EQ(figure.lines[1].style, 1U);
}

TEST(ReportSummary, HasTheTimeToAnAccuracy) {
  const auto study = made_study("s", {{"sgd", "32", "1", State::finished, {0.25, 0.5}},
                                      {"sgd", "32", "2", State::finished, {0.5}},
                                      {"sgd", "64", "1", State::finished, {0.375}},
                                      {"sgd", "128", "1", State::diverged, {0.125}}});
  EXPECT_DOUBLE_EQ(target_accuracy(study.results).value(), 0.49);
  EXPECT_FALSE(target_accuracy({}));
  const auto figure = time_figure(study, 0.49);
  EXPECT_EQ(figure.y.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.lines[0].points[0].y, 15);
  EXPECT_EQ(figure.lines[0].points[0].low, 10);
  EXPECT_EQ(figure.lines[0].points[0].high, 20);
  EXPECT_TRUE(std::isnan(figure.lines[0].points[1].y)) << "it never got there";
  EXPECT_TRUE(figure.lines[0].lost.empty());
}

TEST(ReportSummary, PutsGroupsBesideEachOtherWhereTheAxisHasNames) {
  const auto figure = accuracy_figure(made_study("s", {{"sgd", "up", "1", State::finished, {0.5}},
                                                       {"lars", "up", "1", State::finished, {0.5}},
                                                       {"sgd", "down", "1", State::diverged, {}}}));
  EXPECT_EQ(figure.form, FigureForm::groups);
  EXPECT_NE(figure.x.scale, AxisScale::logarithmic);
  EXPECT_EQ(figure.x.ticks[1].label, "down");
  EXPECT_EQ(figure.x.ticks[1].place, 2);
  EXPECT_DOUBLE_EQ(figure.lines[0].points[0].x, 0.85);
  EXPECT_DOUBLE_EQ(figure.lines[1].points[0].x, 1.15);
  EXPECT_EQ(figure.lines[0].lost.at(0).y, 0) << "it reached nothing";
  const auto one_batch = accuracy_figure(made_study("s", {{"a", "32", "1", State::finished, {1}}}));
  EXPECT_EQ(one_batch.form, FigureForm::groups);
}

}  // namespace
}  // namespace rubato::app
