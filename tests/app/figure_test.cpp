#include "app/figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::Not;

const double nothing = std::numeric_limits<double>::quiet_NaN();

Figure made_figure(FigureForm form, std::vector<FigurePoint> points) {
  return {.form = form,
          .x = {.label = "samples"},
          .y = {.label = "loss (nats)"},
          .lines = {{.label = "run", .points = std::move(points)}}};
}

TEST(FigureScript, DrawsAPanelFromZeroOn) {
  const auto script = gnuplot_script(
      made_figure(FigureForm::panel, {{50, 1, nothing, nothing}, {100, 2, nothing, nothing}}));
  EXPECT_THAT(script, HasSubstr("set terminal svg size 350,230 dynamic noenhanced"));
  EXPECT_THAT(script, HasSubstr("set xlabel 'samples'"));
  EXPECT_THAT(script, HasSubstr("set xrange [-4:104]\n"));
  EXPECT_THAT(script, HasSubstr("set ylabel 'loss (nats)'"));
  EXPECT_THAT(script, HasSubstr("set yrange [0.96:2.04]\n"));
  EXPECT_THAT(script, HasSubstr("unset key\n"));
  EXPECT_THAT(script, HasSubstr("$line0 << END\n50 1 1 1\n100 2 2 2\nEND\n"));
  EXPECT_THAT(script, HasSubstr("\nplot $line0 using 1:2 with lines linewidth 1.5 linecolor rgb"
                                " '#0072B2' dashtype solid notitle\n"));
}

TEST(FigureScript, DrawsMarkersWithTheirRanges) {
  auto figure = made_figure(FigureForm::points, {{32, 90, 80, 95}, {64, 70, 60, 75}});
  figure.x.scale = AxisScale::logarithmic;
  figure.x.ticks = {{32, "32"}, {64, "64"}};
  const auto script = gnuplot_script(figure);
  EXPECT_THAT(script, HasSubstr("set logscale x\n"));
  EXPECT_THAT(script, HasSubstr("('32' 32, '64' 64)\n"));
  EXPECT_THAT(script, HasSubstr("$line0 << END\n32 90 80 95\n64 70 60 75\nEND\n"));
  EXPECT_THAT(script, HasSubstr("set yrange [58.6:96.4]\n")) << "the ranges are in it";
  EXPECT_THAT(script, HasSubstr("with yerrorbars"));
  EXPECT_THAT(script, HasSubstr("with linespoints"));
  EXPECT_THAT(script, HasSubstr("title 'run'\n"));
  figure.form = FigureForm::groups;
  EXPECT_THAT(gnuplot_script(figure), Not(HasSubstr("linespoints")));
}

TEST(FigureScript, MakesRoomForAccuraciesNearHundred) {
  auto figure = made_figure(FigureForm::panel, {{1, 0.1, 0.1, 0.1}, {2, 90.1, 90.1, 90.1}});
  figure.y.scale = AxisScale::near_hundred;
  const auto script = gnuplot_script(figure);
  EXPECT_THAT(script, HasSubstr("set nonlinear y via -log10(100.1-y) inverse 100.1-10**(-y)\n"));
  // Of one decade that is missing, 4 % on either side: 100.1 - 100 * 10^0.04, 100.1 - 10 / 10^0.04.
  EXPECT_THAT(script, HasSubstr("set yrange [-9.54782:90.97989]"));
  figure.lines[0].points[1].y = 100.2;
  EXPECT_THAT(gnuplot_script(figure), HasSubstr("<< END\n1 0.1 0.1 0.1\n\nEND\n"));
}

TEST(FigureScript, InterruptsALineWhereNothingCanBeDrawn) {
  auto figure = made_figure(FigureForm::panel,
                            {{1, 1, 1, 1}, {2, nothing, 0, 0}, {3, 0, 0, 0}, {4, 10, 10, 10}});
  figure.y.scale = AxisScale::logarithmic;
  EXPECT_THAT(gnuplot_script(figure), HasSubstr("<< END\n1 1 1 1\n\n\n4 10 10 10\nEND\n"));
}

TEST(FigureScript, CrossesOutWhatDiverged) {
  auto figure = made_figure(FigureForm::panel, {{1, 1, 1, 1}});
  figure.lines[0].lost = {{2, 5, 5, 5}};
  EXPECT_THAT(gnuplot_script(figure),
              HasSubstr("$lost0 << END\n2 5 5 5\nEND\nplot $line0 using 1:2 with lines"));
  EXPECT_THAT(gnuplot_script(figure), HasSubstr(", $lost0 using 1:2 with points pointtype 2"));
  figure.lines[0].points.clear();
  EXPECT_THAT(gnuplot_script(figure), HasSubstr("\nplot $lost0 using 1:2"));
}

TEST(FigureScript, TakesTextForText) {
  auto figure = made_figure(FigureForm::points, {{1, 1, 1, 1}});
  figure.lines[0].label = "it's `reboot` \"\\\n@x";
  EXPECT_THAT(gnuplot_script(figure), HasSubstr("title 'it''s `reboot` \"\\ @x'\n"));
}

TEST(FigurePoints, AreThereIfOneCanBeDrawn) {
  EXPECT_FALSE(has_points({}));
  auto figure = made_figure(FigureForm::panel, {{1, nothing, 0, 0}, {2, 0, 0, 0}});
  EXPECT_TRUE(has_points(figure));
  figure.y.scale = AxisScale::logarithmic;
  EXPECT_FALSE(has_points(figure));
  figure.lines[0].lost = {{1, 1, 1, 1}};
  EXPECT_TRUE(has_points(figure));
}

}  // namespace
}  // namespace rubato::app
