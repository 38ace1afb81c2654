#include "app/report_curves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report_runs.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;
using State = CellState;

std::vector<std::string> titles_of(const std::vector<TitledFigure>& figures) {
  std::vector<std::string> titles;
  for (const auto& one : figures) titles.push_back(one.title);
  return titles;
}

TEST(ReportCurves, AreOverSamplesProgressAndTime) {
  const auto figures = figures_of(panel_of({made_run("a", State::finished, {0.5, 0.75})}));
  EXPECT_THAT(titles_of(figures.results),
              ElementsAre("Test accuracy over samples", "Test accuracy over progress",
                          "Test accuracy over time", "Test loss over samples",
                          "Test loss over progress", "Test loss over time"));
  const auto& accuracy = figures.results[0].figure;
  EXPECT_EQ(accuracy.x.label, "training samples");
  EXPECT_EQ(accuracy.y.label, "test accuracy (%)");
  EXPECT_NE(accuracy.y.scale, AxisScale::logarithmic);
  ASSERT_EQ(accuracy.lines.at(0).points.size(), 2U);
  EXPECT_EQ(accuracy.lines[0].points[1].x, 640);
  EXPECT_EQ(accuracy.lines[0].points[1].y, 75);
  EXPECT_EQ(figures.results[1].figure.lines[0].points[1].x, 40);
  EXPECT_EQ(figures.results[2].figure.lines[0].points[1].x, 20);
  EXPECT_EQ(figures.results[2].figure.x.label, "training time (s)");
  EXPECT_EQ(figures.results[3].figure.lines[0].points[1].y, 0.25);
  EXPECT_EQ(figures.results[3].figure.y.scale, AxisScale::logarithmic);
}

TEST(ReportCurves, ShowAlongTheRunWhatChanges) {
  auto run = made_run("a", State::finished, {0.5, 0.75});
  const auto constant = figures_of(panel_of({run}));
  EXPECT_THAT(titles_of(constant.course), ElementsAre("Training loss", "Noise scale"));
  EXPECT_THAT(constant.constant, ElementsAre("batch size", "learning rate", "gain"));
  run.curve.updates.back().batch = 256;
  run.curve.updates.back().rate = 2;
  run.curve.updates.back().gain = 3;
  const auto figures = figures_of(panel_of({run}));
  ASSERT_THAT(titles_of(figures.course),
              ElementsAre("Training loss", "Batch size", "Learning rate", "Gain", "Noise scale"));
  EXPECT_TRUE(figures.constant.empty());
  EXPECT_EQ(figures.course[1].figure.y.scale, AxisScale::logarithmic);
  EXPECT_EQ(figures.course[1].figure.y.ticks.front().label, "32");
  EXPECT_EQ(figures.course[1].figure.y.ticks.back().label, "256");
  EXPECT_EQ(figures.course[2].figure.y.scale, AxisScale::logarithmic) << "20 times";
  EXPECT_NE(figures.course[3].figure.y.scale, AxisScale::logarithmic);
}

TEST(ReportCurves, HaveShortNumbers) {
  auto run = made_run("a", State::finished, {0.5});
  run.curve.updates.back().at = {5e6, 1, 7200};
  const auto figures = figures_of(panel_of({run}));
  EXPECT_EQ(figures.course[0].figure.x.label, "training samples (millions)");
  EXPECT_EQ(figures.course[0].figure.lines[0].points.back().x, 5);
  EXPECT_EQ(figures.results[2].figure.x.label, "training time (min)");
}

TEST(ReportCurves, SmoothTheTrainingLoss) {
  auto run = made_run("a", State::finished, std::vector<double>(12, 0.5));  // 120 updates
  for (std::size_t i = 0; i < 120; ++i) run.curve.updates[i].loss = i % 2 == 0 ? 1 : 3;
  run.curve.evaluations.clear();
  const auto figures = figures_of(panel_of({run}));
  EXPECT_THAT(titles_of(figures.results),
              ElementsAre("Training loss over samples", "Training loss over progress",
                          "Training loss over time"))
      << "without a test set";
  const auto& points = figures.results[0].figure.lines[0].points;
  ASSERT_EQ(points.size(), 60U);
  EXPECT_TRUE(std::all_of(points.begin(), points.end(), [](auto& one) { return one.y == 2; }));
  EXPECT_EQ(points.back().x, 3.84) << "thousand samples: the last update";
}

TEST(ReportCurves, EndInACrossWhereARunDiverged) {
  const auto figures = figures_of(panel_of(
      {made_run("a", State::diverged, {0.5, 0.25}), made_run("b", State::finished, {0.5})}));
  const auto& lines = figures.results[0].figure.lines;
  ASSERT_EQ(lines[0].lost.size(), 1U);
  EXPECT_EQ(lines[0].lost[0].x, 640);
  EXPECT_EQ(lines[0].lost[0].y, 25);
  EXPECT_TRUE(lines[1].lost.empty());
  EXPECT_TRUE(figures_of({}).results.empty());
}

}  // namespace
}  // namespace rubato::app
