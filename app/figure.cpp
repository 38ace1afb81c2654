// The ranges and ticks are computed here: gnuplot's own collide in small plots, and along a short
// logarithmic axis it writes but one number.
#include "app/figure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "app/axis_ticks.hpp"
#include "app/html_text.hpp"
#include "app/line_style.hpp"

namespace rubato::app {
namespace {

constexpr double margin = 0.04;  // of the range, around what is drawn
constexpr double whole = 100.1;  // per cent, of an axis that nears 100: there, 100 has a place
constexpr double dash_unit = 2;  // gnuplot's dashes are half as long as they say, at width 1

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

bool fits(double value, const FigureAxis& axis) {
  if (axis.scale == AxisScale::near_hundred && value >= whole) return false;
  return std::isfinite(value) && (axis.scale != AxisScale::logarithmic || value > 0);
}

bool fits(const FigurePoint& point, const Figure& figure) {
  return fits(point.x, figure.x) && fits(point.y, figure.y);
}

// Single quotes: gnuplot takes nothing in them for anything else.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char character : readable(text)) {
    word += character;
    if (character == '\'') word += '\'';
  }
  word += '\'';
  return word;
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(7);
  text << value;
  return text.str();
}

Range widened_by_factor(const Range& range) {
  const double factor = range.most > range.least ? std::pow(range.most / range.least, margin) : 1.5;
  return {range.least / factor, range.most * factor};
}

Range widened(const Range& range, AxisScale scale) {
  if (scale == AxisScale::logarithmic) return widened_by_factor(range);
  if (scale == AxisScale::near_hundred) {
    const Range missing = widened_by_factor({whole - range.most, whole - range.least});
    return {whole - missing.most, std::min(100.0, whole - missing.least)};
  }
  const double around = range.most > range.least ? margin * (range.most - range.least)
                                                 : std::max(0.5, std::abs(range.most) / 10);
  return {range.least - around, range.most + around};
}

struct Ranges {
  Range x;
  Range y;
};

Ranges ranges_of(const Figure& figure) {
  Ranges ranges;
  if (figure.form == FigureForm::panel && figure.x.scale == AxisScale::linear) ranges.x.take(0);
  for (const auto& tick : figure.x.ticks) ranges.x.take(tick.place);
  for (const auto& line : figure.lines) {
    for (const auto* points : {&line.points, &line.lost}) {
      for (const auto& point : *points) {
        if (!fits(point, figure)) continue;
        ranges.x.take(point.x);
        for (const double y : {point.y, point.low, point.high}) {
          if (fits(y, figure.y)) ranges.y.take(y);
        }
      }
    }
  }
  return ranges;
}

std::string ticks_text(const FigureAxis& axis, const Range& range) {
  if (axis.ticks.empty() && axis.scale == AxisScale::linear)
    return number(tick_distance(range.least, range.most));
  auto ticks = axis.ticks;
  if (ticks.empty()) {
    const auto places = axis.scale == AxisScale::near_hundred
                            ? ticks_near_hundred(range.least, range.most)
                            : logarithmic_ticks(range.least, range.most);
    for (const double place : places) ticks.push_back({place, number(place)});
  }
  std::string text = "(";
  for (const auto& tick : ticks) {
    text += (text.size() > 1 ? ", " : "") + quoted(tick.label) + " " + number(tick.place);
  }
  return text + ")";
}

void write_axis(std::ostream& script, char name, const FigureAxis& axis, const Range& drawn) {
  const Range range = widened(drawn, axis.scale);
  if (axis.scale == AxisScale::logarithmic) script << "set logscale " << name << '\n';
  if (axis.scale == AxisScale::near_hundred) {
    script << "set nonlinear " << name << " via -log10(" << whole << '-' << name << ") inverse "
           << whole << "-10**(-" << name << ")\n";
  }
  script << "set " << name << "label " << quoted(axis.label) << " textcolor rgb '#333333'\n"
         << "set " << name << "range [" << number(range.least) << ':' << number(range.most) << "]\n"
         << "set " << name << "tics nomirror out scale 0.5 textcolor rgb '#333333' "
         << ticks_text(axis, range) << '\n';
}

void write_form(std::ostream& script, FigureForm form) {
  const bool is_panel = form == FigureForm::panel;
  script << "set terminal svg size " << (is_panel ? "350,230" : "760,400")
         << " dynamic noenhanced rounded font 'sans-serif," << (is_panel ? 11 : 12) << "'\n"
         << "set encoding utf8\n"
            "set border 3 linecolor rgb '#777777' linewidth 0.8\n"
            "set grid ytics linecolor rgb '#E2E2E2' linewidth 0.7 dashtype solid\n"
         << (is_panel ? "set lmargin 10\nset rmargin 1.5\nset tmargin 0.6\nunset key\n"
                      : "set key outside right top Left reverse samplen 3 spacing 1.2\n");
}

void write_block(std::ostream& script, const std::string& name,
                 const std::vector<FigurePoint>& points, const Figure& figure) {
  script << '$' << name << " << END\n";
  for (const auto& point : points) {
    if (!fits(point, figure)) {
      script << '\n';  // interrupts the line
      continue;
    }
    const bool has_range = fits(point.low, figure.y) && fits(point.high, figure.y);
    script << number(point.x) << ' ' << number(point.y) << ' '
           << number(has_range ? point.low : point.y) << ' '
           << number(has_range ? point.high : point.y) << '\n';
  }
  script << "END\n";
}

std::string dash_text(const std::vector<int>& dashes) {
  if (dashes.empty()) return "solid";
  std::ostringstream text;
  for (std::size_t i = 0; i < dashes.size(); ++i) {
    text << (i == 0 ? '(' : ',') << dash_unit * dashes[i];
  }
  text << ')';
  return text.str();
}

bool has_points(const std::vector<FigurePoint>& points, const Figure& figure) {
  return std::any_of(points.begin(), points.end(),
                     [&](const FigurePoint& point) { return fits(point, figure); });
}

// Of the plot command: what draws the points of one line.
void write_points(std::ostream& command, FigureForm form, const std::string& block,
                  const FigureLine& line) {
  const LineStyle style = line_style(line.style);
  const char* separator = ", ";
  if (form == FigureForm::panel) {
    command << separator << block << " using 1:2 with lines linewidth 1.5 linecolor rgb '"
            << style.colour << "' dashtype " << dash_text(style.dashes) << " notitle";
    return;
  }
  command << separator << block << " using 1:2:3:4 with yerrorbars pointsize 0 linewidth 1 "
          << "linecolor rgb '" << style.colour << "' dashtype solid notitle" << separator << block
          << " using 1:2 with ";
  if (form == FigureForm::points) {
    command << "linespoints linewidth 1.5 dashtype " << dash_text(style.dashes);
  } else {
    command << "points";
  }
  command << " linecolor rgb '" << style.colour << "' pointtype " << style.marker
          << " pointsize 0.8 title " << quoted(line.label);
}

void write_crosses(std::ostream& command, const std::string& block, const FigureLine& line) {
  command << ", " << block << " using 1:2 with points pointtype 2 pointsize 0.9 linewidth 1.8 "
          << "linecolor rgb '" << line_style(line.style).colour << "' notitle";
}

}  // namespace

bool has_points(const Figure& figure) {
  return std::any_of(figure.lines.begin(), figure.lines.end(), [&](const FigureLine& line) {
    return has_points(line.points, figure) || has_points(line.lost, figure);
  });
}

std::string gnuplot_script(const Figure& figure) {
  std::ostringstream script;
  const Ranges ranges = ranges_of(figure);
  write_form(script, figure.form);
  write_axis(script, 'x', figure.x, ranges.x);
  write_axis(script, 'y', figure.y, ranges.y);
  std::ostringstream command;
  for (std::size_t i = 0; i < figure.lines.size(); ++i) {
    const auto& line = figure.lines[i];
    const std::string number = std::to_string(i);
    write_block(script, "line" + number, line.points, figure);
    write_block(script, "lost" + number, line.lost, figure);
    if (has_points(line.points, figure)) {
      write_points(command, figure.form, "$line" + number, line);
    }
    if (has_points(line.lost, figure)) write_crosses(command, "$lost" + number, line);
  }
  script << "plot " << command.str().substr(2) << '\n';  // without the first comma
  return script.str();
}

}  // namespace rubato::app
