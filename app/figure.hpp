// One plot of a report: what is drawn, and how gnuplot is asked to draw it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rubato::app {

struct FigurePoint {
  double x = 0;
  double y = 0;
  double low = 0;  // the range of what y is the mean of
  double high = 0;
};

struct FigureLine {
  std::string label{};
  std::size_t style = 0;              // line_style()
  std::vector<FigurePoint> points{};  // what is not finite interrupts the line
  std::vector<FigurePoint> lost{};    // drawn as crosses: what diverged
};

struct AxisTick {
  double place = 0;
  std::string label;
};

enum class AxisScale {
  linear,
  logarithmic,
  near_hundred,  // of per cent: logarithmic in what is missing to 100
};

struct FigureAxis {
  std::string label;  // with its unit
  AxisScale scale = AxisScale::linear;
  std::vector<AxisTick> ticks{};  // empty: round numbers
};

enum class FigureForm {
  panel,   // small, one of many: lines without markers, and without a legend
  points,  // large: markers with ranges, joined by lines; a legend
  groups,  // the same, x being one of several names: not joined
};

struct Figure {
  FigureForm form = FigureForm::panel;
  FigureAxis x{};
  FigureAxis y{};
  std::vector<FigureLine> lines{};
};

// Whether there is anything to see: a point that is finite, and positive along logarithmic axes.
bool has_points(const Figure& figure);

// Without what cannot be drawn, as has_points() has it.
std::string gnuplot_script(const Figure& figure);

}  // namespace rubato::app
