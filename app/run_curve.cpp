// See run_curve.hpp.
#include "app/run_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/metrics_lines.hpp"

namespace rubato::app {
namespace {

using Json = nlohmann::ordered_json;

UpdatePoint update_in(const Json& line, const CurvePlace& before) {
  return {.at = {.samples = number_in(line, "samples"),
                 .progress = number_in(line, "scaled_updates"),
                 .seconds = before.seconds + seconds_in(line)},
          .loss = number_in(line, "loss"),
          .batch = number_in(line, "batch_size"),
          .rate = number_in(line, "lr"),
          .gain = number_in(line, "gain"),
          .noise_scale = number_in(line, "noise_scale")};
}

std::vector<RunFact> facts_in(const Json& context) {
  std::vector<RunFact> facts;
  for (const auto& [name, value] : context.items()) {
    if (name == "type" || name == "configuration" || name == "resumed_from") continue;
    facts.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return facts;
}

// Of those that are finite.
double mean_loss(const UpdatePoint* begin, const UpdatePoint* end) {
  double sum = 0;
  int count = 0;
  for (const auto* point = begin; point != end; ++point) {
    if (!std::isfinite(point->loss)) continue;
    sum += point->loss;
    ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

std::size_t points_in_one(std::size_t points, std::size_t most) {
  return (points + most - 1) / most;
}

std::vector<UpdatePoint> thinned(const std::vector<UpdatePoint>& points, std::size_t most) {
  const std::size_t width = points_in_one(points.size(), most);
  std::vector<UpdatePoint> few;
  for (std::size_t begin = 0; begin < points.size(); begin += width) {
    const std::size_t end = std::min(begin + width, points.size());
    few.push_back(points[end - 1]);
    few.back().loss = mean_loss(points.data() + begin, points.data() + end);
  }
  return few;
}

std::vector<EvaluationPoint> thinned(const std::vector<EvaluationPoint>& points, std::size_t most) {
  const std::size_t width = points_in_one(points.size(), most);
  std::vector<EvaluationPoint> few;
  for (std::size_t begin = 0; begin < points.size(); begin += width) {
    few.push_back(points[std::min(begin + width, points.size()) - 1]);
  }
  return few;
}

void add(CurvePlace& sum, const CurvePlace& place, double weight) {
  sum.samples += weight * place.samples;
  sum.progress += weight * place.progress;
  sum.seconds += weight * place.seconds;
}

void add(UpdatePoint& sum, const UpdatePoint& point, double weight) {
  add(sum.at, point.at, weight);
  sum.loss += weight * point.loss;
  sum.batch += weight * point.batch;
  sum.rate += weight * point.rate;
  sum.gain += weight * point.gain;
  sum.noise_scale += weight * point.noise_scale;
}

void add(EvaluationPoint& sum, const EvaluationPoint& point, double weight) {
  add(sum.at, point.at, weight);
  sum.loss += weight * point.loss;
  sum.accuracy += weight * point.accuracy;
}

template <class Point>
std::vector<Point> mean_points(const std::vector<const RunCurve*>& curves,
                               std::vector<Point> RunCurve::*points) {
  std::size_t length = std::numeric_limits<std::size_t>::max();
  for (const auto* curve : curves) length = std::min(length, (curve->*points).size());
  if (curves.empty()) return {};
  std::vector<Point> means(length);
  for (const auto* curve : curves) {
    for (std::size_t i = 0; i < length; ++i) {
      add(means[i], (curve->*points)[i], 1 / static_cast<double>(curves.size()));
    }
  }
  return means;
}

}  // namespace

RunCurve curve_of(const std::filesystem::path& directory, std::size_t most) {
  RunCurve curve;
  CurvePlace place;  // of the last update
  MetricsLines lines(directory / "metrics.jsonl");
  while (lines.next()) {
    if (lines.is_of("update")) {
      curve.updates.push_back(update_in(lines.object(), place));
      place = curve.updates.back().at;
    } else if (lines.is_of("eval")) {
      const auto line = lines.object();
      curve.evaluations.push_back({place, number_in(line, "loss"), number_in(line, "accuracy")});
    } else if (lines.is_of("context")) {
      curve.facts = facts_in(lines.object());
    }
  }
  curve.updates = thinned(curve.updates, most);
  curve.evaluations = thinned(curve.evaluations, most);
  return curve;
}

RunCurve mean_of(const std::vector<const RunCurve*>& curves) {
  return {.updates = mean_points(curves, &RunCurve::updates),
          .evaluations = mean_points(curves, &RunCurve::evaluations)};
}

}  // namespace rubato::app
