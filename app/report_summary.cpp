// See report_summary.hpp.
#include "app/report_summary.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "app/option_value.hpp"
#include "app/study_table.hpp"

namespace rubato::app {
namespace {

constexpr double width_of_a_group = 0.6;  // 1: up to the next

using Value = std::function<std::optional<double>(const ReportRun&)>;

// The values of the horizontal axis.
struct Stops {
  std::vector<std::string> names;  // batch sizes, or traces
  std::vector<double> places;
  bool are_numbers = true;  // otherwise 1, 2, 3, ...
};

Stops stops_of(const ReportStudy& study) {
  Stops stops;
  for (const auto& run : study.runs) {
    const bool is_new =
        std::find(stops.names.begin(), stops.names.end(), run.batch) == stops.names.end();
    if (is_new) stops.names.push_back(run.batch);
  }
  for (const auto& name : stops.names) {
    const auto number = parse_whole<double>(name);
    if (!number || !(*number > 0)) stops.are_numbers = false;
    stops.places.push_back(number.value_or(0));
  }
  if (stops.names.size() < 2) stops.are_numbers = false;
  if (!stops.are_numbers) std::iota(stops.places.begin(), stops.places.end(), 1.0);
  return stops;
}

std::vector<double> values_of(const ReportStudy& study, const std::string& group,
                              const std::string& batch, bool has_diverged, const Value& value) {
  std::vector<double> values;
  for (const auto& run : study.runs) {
    const bool is_diverged = run.course.state == CellState::diverged;
    if (run.group != group || run.batch != batch || is_diverged != has_diverged) continue;
    if (const auto one = value(run)) values.push_back(*one);
  }
  return values;
}

bool has_only_diverged(const ReportStudy& study, const std::string& group,
                       const std::string& batch) {
  bool is_found = false;
  for (const auto& run : study.runs) {
    if (run.group != group || run.batch != batch) continue;
    if (run.course.state != CellState::diverged) return false;
    is_found = true;
  }
  return is_found;
}

FigurePoint point_at(double x, const std::vector<double>& values) {
  if (values.empty()) {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    return {x, nothing, nothing, nothing};
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {x, sum / static_cast<double>(values.size()), *least, *most};
}

Figure empty_figure(const ReportStudy& study, const Stops& stops) {
  Figure figure{.form = stops.are_numbers ? FigureForm::points : FigureForm::groups};
  const bool has_traces = is_of_traces(study.results);
  figure.x.label = has_traces ? "trace of batch sizes" : "batch size (samples)";
  figure.x.scale = stops.are_numbers ? AxisScale::logarithmic : AxisScale::linear;
  for (std::size_t i = 0; i < stops.names.size(); ++i) {
    figure.x.ticks.push_back({stops.places[i], stops.names[i]});
  }
  return figure;
}

// Beside each other where the axis has names.
double shift_of(std::size_t group, std::size_t groups, const Stops& stops) {
  if (stops.are_numbers) return 0;
  const double middle = (static_cast<double>(groups) - 1) / 2;
  return width_of_a_group * (static_cast<double>(group) - middle) / static_cast<double>(groups);
}

Figure figure_of(const ReportStudy& study, const Value& value) {
  const Stops stops = stops_of(study);
  const auto groups = groups_of(study.results);
  Figure figure = empty_figure(study, stops);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::string& name = groups[group];
    FigureLine line{.label = name.empty() ? "all" : name, .style = group};
    for (std::size_t i = 0; i < stops.names.size(); ++i) {
      const double x = stops.places[i] + shift_of(group, groups.size(), stops);
      const auto values = values_of(study, name, stops.names[i], /*has_diverged=*/false, value);
      line.points.push_back(point_at(x, values));
      if (!has_only_diverged(study, name, stops.names[i])) continue;
      const auto reached = values_of(study, name, stops.names[i], /*has_diverged=*/true, value);
      line.lost.push_back(point_at(x, reached.empty() ? std::vector{0.0} : reached));
    }
    figure.lines.push_back(std::move(line));
  }
  return figure;
}

}  // namespace

Figure accuracy_figure(const ReportStudy& study) {
  Figure figure = figure_of(study, [](const ReportRun& run) -> std::optional<double> {
    const auto best = best_of(run.course);
    return best ? std::optional(100 * best->accuracy) : std::nullopt;
  });
  figure.y.label = "best test accuracy (%)";
  figure.y.scale = AxisScale::near_hundred;
  return figure;
}

Figure time_figure(const ReportStudy& study, double accuracy) {
  Figure figure =
      figure_of(study, [&](const ReportRun& run) { return seconds_to(run.course, accuracy); });
  for (auto& line : figure.lines) line.lost.clear();
  figure.y.label = "training time (s)";
  figure.y.scale = AxisScale::logarithmic;
  return figure;
}

std::optional<double> target_accuracy(const StudyResults& results) {
  if (!results.baseline) return std::nullopt;
  return results.baseline->accuracy - target_distance;
}

}  // namespace rubato::app
