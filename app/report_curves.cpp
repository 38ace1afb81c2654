// See report_curves.hpp.
#include "app/report_curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rubato::app {
namespace {

constexpr double wide_range = 10;  // from here on a logarithmic axis shows more
constexpr std::size_t most_powers_of_two = 6;
constexpr std::size_t most_losses = 60;  // along a line: single minibatches scatter

template <class Point>
using Points = std::vector<Point> RunCurve::*;

// A horizontal axis, in a unit that makes short numbers.
struct Way {
  std::string title;  // "over samples"
  std::string label;
  double CurvePlace::*place;
  double unit;
};

struct Quantity {
  std::string title;
  std::string label;
  std::string name{};  // within a sentence
  double factor = 1;
};

template <class Function>
void for_each_place(const Panel& panel, const Function& function) {
  for (const auto& line : panel.lines) {
    for (const auto& point : line.curve.updates) function(point.at);
    for (const auto& point : line.curve.evaluations) function(point.at);
  }
}

double largest(const Panel& panel, double CurvePlace::*place) {
  double most = 0;
  for_each_place(panel, [&](const CurvePlace& at) {
    if (std::isfinite(at.*place)) most = std::max(most, at.*place);
  });
  return most;
}

Way way_of_samples(const Panel& panel) {
  const double most = largest(panel, &CurvePlace::samples);
  Way way{"over samples", "training samples", &CurvePlace::samples, 1};
  if (most >= 2e3) way = {way.title, "training samples (thousands)", way.place, 1e3};
  if (most >= 2e6) way = {way.title, "training samples (millions)", way.place, 1e6};
  return way;
}

Way way_of_seconds(const Panel& panel) {
  const double most = largest(panel, &CurvePlace::seconds);
  Way way{"over time", "training time (s)", &CurvePlace::seconds, 1};
  if (most < 2) way = {way.title, "training time (ms)", way.place, 1e-3};
  if (most >= 600) way = {way.title, "training time (min)", way.place, 60};
  if (most >= 36000) way = {way.title, "training time (h)", way.place, 3600};
  return way;
}

std::array<Way, 3> ways_of(const Panel& panel) {
  return {way_of_samples(panel),
          {"over progress", "progress (updates of the reference batch)", &CurvePlace::progress, 1},
          way_of_seconds(panel)};
}

template <class Point>
Figure figure_over(const Panel& panel, const Way& way, const Quantity& quantity,
                   Points<Point> points, double Point::*value) {
  Figure figure{.x = {.label = way.label}, .y = {.label = quantity.label}};
  for (std::size_t i = 0; i < panel.lines.size(); ++i) {
    const auto& of_line = panel.lines[i].curve.*points;
    FigureLine line{.label = panel.lines[i].label, .style = i};
    for (const auto& point : of_line) {
      const double nothing = std::numeric_limits<double>::quiet_NaN();
      line.points.push_back(
          {point.at.*way.place / way.unit, quantity.factor * (point.*value), nothing, nothing});
    }
    if (panel.lines[i].is_lost()) {
      const auto last = std::find_if(line.points.rbegin(), line.points.rend(),
                                     [](const auto& point) { return std::isfinite(point.y); });
      if (last != line.points.rend()) line.lost.push_back(*last);
    }
    figure.lines.push_back(std::move(line));
  }
  return figure;
}

// Each point the mean of equally many, at the place of their last.
void smooth(FigureLine& line) {
  const std::size_t width = (line.points.size() + most_losses - 1) / most_losses;
  std::vector<FigurePoint> few;
  for (std::size_t begin = 0; begin < line.points.size(); begin += width) {
    const std::size_t end = std::min(begin + width, line.points.size());
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += line.points[i].y;
    few.push_back(line.points[end - 1]);
    few.back().y = sum / static_cast<double>(end - begin);
  }
  line.points = std::move(few);
}

Figure training_loss_over(const Panel& panel, const Way& way, const Quantity& quantity) {
  Figure figure = figure_over(panel, way, quantity, &RunCurve::updates, &UpdatePoint::loss);
  for (auto& line : figure.lines) smooth(line);
  return figure;
}

struct ValueRange {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  bool changes = false;  // in one of the lines
};

ValueRange range_of(const Figure& figure) {
  ValueRange range;
  for (const auto& line : figure.lines) {
    double first = std::numeric_limits<double>::quiet_NaN();
    for (const auto& point : line.points) {
      if (!std::isfinite(point.y)) continue;
      if (std::isnan(first)) first = point.y;
      range.changes = range.changes || std::abs(point.y - first) > 1e-9 * std::abs(first);
      range.least = std::min(range.least, point.y);
      range.most = std::max(range.most, point.y);
    }
  }
  return range;
}

bool is_wide(const ValueRange& range) {
  return range.least > 0 && range.most > wide_range * range.least;
}

// Over a factor of two a batch size is drawn over powers of two.
void scale_batches(Figure& figure, const ValueRange& range) {
  if (!(range.least > 0) || range.most < 2 * range.least) return;
  figure.y.scale = AxisScale::logarithmic;
  const double first = std::ceil(std::log2(range.least));
  const double last = std::floor(std::log2(range.most));
  const double step = std::ceil((last - first + 1) / most_powers_of_two);
  for (double power = first; power <= last; power += step) {
    const double batch = std::exp2(power);
    figure.y.ticks.push_back({batch, std::to_string(static_cast<long>(batch))});
  }
}

void add_results(const Panel& panel, PanelFigures& figures) {
  const bool has_evaluations =
      std::any_of(panel.lines.begin(), panel.lines.end(),
                  [](const PanelLine& line) { return !line.curve.evaluations.empty(); });
  const Quantity accuracy{.title = "Test accuracy", .label = "test accuracy (%)", .factor = 100};
  const Quantity test_loss{"Test loss", "test loss (nats)", "test loss"};
  const Quantity training_loss{"Training loss", "training loss (nats)", "training loss"};
  const auto add = [&](const Quantity& quantity, const Way& way, Figure figure, AxisScale scale) {
    figure.y.scale = scale;
    if (has_points(figure)) {
      figures.results.push_back({quantity.title + " " + way.title, std::move(figure)});
    }
  };
  const auto ways = ways_of(panel);
  if (!has_evaluations) {
    for (const auto& way : ways) {
      add(training_loss, way, training_loss_over(panel, way, training_loss),
          AxisScale::logarithmic);
    }
    return;
  }
  for (const auto& way : ways) {
    add(accuracy, way,
        figure_over(panel, way, accuracy, &RunCurve::evaluations, &EvaluationPoint::accuracy),
        AxisScale::near_hundred);
  }
  for (const auto& way : ways) {
    add(test_loss, way,
        figure_over(panel, way, test_loss, &RunCurve::evaluations, &EvaluationPoint::loss),
        AxisScale::logarithmic);
  }
}

void add_course(const Panel& panel, PanelFigures& figures) {
  const Way way = way_of_samples(panel);
  const auto figure_of = [&](const Quantity& quantity, double UpdatePoint::*value) {
    return figure_over(panel, way, quantity, &RunCurve::updates, value);
  };
  const auto add = [&](const Quantity& quantity, Figure figure, AxisScale scale) {
    figure.y.scale = scale;
    if (!has_points(figure)) return;
    if (range_of(figure).changes) {
      figures.course.push_back({quantity.title, std::move(figure)});
    } else {
      figures.constant.push_back(quantity.name);
    }
  };
  const Quantity loss{"Training loss", "training loss (nats)", "training loss"};
  add(loss, training_loss_over(panel, way, loss), AxisScale::logarithmic);
  const Quantity batch{"Batch size", "batch size (samples)", "batch size"};
  Figure batches = figure_of(batch, &UpdatePoint::batch);
  scale_batches(batches, range_of(batches));
  const AxisScale scale_of_batches = batches.y.scale;
  add(batch, std::move(batches), scale_of_batches);
  const Quantity rate{"Learning rate", "learning rate", "learning rate"};
  Figure rates = figure_of(rate, &UpdatePoint::rate);
  const AxisScale scale_of_rates =
      is_wide(range_of(rates)) ? AxisScale::logarithmic : AxisScale::linear;
  add(rate, std::move(rates), scale_of_rates);
  const Quantity gain{"Gain", "gain (no unit)", "gain"};
  add(gain, figure_of(gain, &UpdatePoint::gain), AxisScale::linear);
  const Quantity noise{"Noise scale", "noise scale (samples)", "noise scale"};
  add(noise, figure_of(noise, &UpdatePoint::noise_scale), AxisScale::logarithmic);
}

}  // namespace

PanelFigures figures_of(const Panel& panel) {
  PanelFigures figures;
  add_results(panel, figures);
  add_course(panel, figures);
  return figures;
}

}  // namespace rubato::app
