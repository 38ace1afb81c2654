// See cell_course.hpp.
#include "app/cell_course.hpp"

#include <cmath>
#include <exception>
#include <string>

#include "app/failure.hpp"
#include "app/metrics_lines.hpp"
#include "runtime/state_file.hpp"

namespace rubato::app {
namespace {

// Weights that are finite may give outputs that are not: such a run comes to its end, with nothing.
bool ends_with_nothing(const CellCourse& course) {
  return !course.evaluations.empty() && !has_outcome(course.evaluations.back());
}

// What every sentence of runtime::RunError on divergence says; the same exit code also means that
// hosts compute differently, or an error of this program's.
constexpr const char* divergence = "training has diverged";

CellState state_of(const runtime::RunStatus& status) {
  if (status.state == runtime::RunState::finished) return CellState::finished;
  const bool has_diverged = status.state == runtime::RunState::failed &&
                            status.exit_code == exit_internal &&
                            status.reason.find(divergence) != std::string::npos;
  return has_diverged ? CellState::diverged : CellState::begun;
}

void take(const MetricsLines& lines, CellCourse& course) {
  if (lines.is_of("update")) course.training_seconds += seconds_in(lines.object());
  if (!lines.is_of("eval")) return;
  const auto line = lines.object();
  course.evaluation_seconds += seconds_in(line);
  course.evaluations.push_back({.update = count_in(line, "update"),
                                .epoch = number_in(line, "epoch"),
                                .loss = number_in(line, "loss"),
                                .accuracy = number_in(line, "accuracy"),
                                .seconds = course.training_seconds});
}

}  // namespace

CellCourse course_of(const std::filesystem::path& directory) {
  CellCourse course;
  try {
    const auto status = runtime::read_status(directory);
    course.state = state_of(status);
    course.updates = status.update;
    course.total_updates = status.total_updates;
  } catch (const std::exception&) {  // a run killed before it wrote any
    const bool has_begun = std::filesystem::exists(directory / "config.ini");
    course.state = has_begun ? CellState::begun : CellState::absent;
  }
  MetricsLines lines(directory / "metrics.jsonl");
  while (lines.next()) take(lines, course);
  if (course.state == CellState::finished && ends_with_nothing(course)) {
    course.state = CellState::diverged;
  }
  return course;
}

bool has_outcome(const CellEvaluation& evaluation) {
  return std::isfinite(evaluation.loss) && !std::isnan(evaluation.accuracy);
}

std::optional<double> seconds_to(const CellCourse& course, double accuracy) {
  for (const auto& evaluation : course.evaluations) {
    if (has_outcome(evaluation) && evaluation.accuracy >= accuracy) return evaluation.seconds;
  }
  return std::nullopt;
}

std::optional<CellEvaluation> best_of(const CellCourse& course) {
  std::optional<CellEvaluation> best;
  for (const auto& evaluation : course.evaluations) {
    if (!has_outcome(evaluation)) continue;
    if (!best || evaluation.accuracy > best->accuracy) best = evaluation;
  }
  return best;
}

}  // namespace rubato::app
