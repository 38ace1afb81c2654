// See cell_course.hpp.
#include "app/cell_course.hpp"

#include <exception>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "app/failure.hpp"
#include "runtime/state_file.hpp"

namespace rubato::app {
namespace {

using nlohmann::json;

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

// JSON has no NaN: the metrics say null.
double number(const json& line, const char* name) {
  const auto field = line.find(name);
  const bool is_number = field != line.end() && field->is_number();
  return is_number ? field->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t count(const json& line, const char* name) {
  const auto field = line.find(name);
  const bool is_count = field != line.end() && field->is_number_unsigned();
  return is_count ? field->get<std::uint64_t>() : 0;
}

double seconds_of(const json& line) {
  const double seconds = number(line, "seconds");
  return seconds > 0 ? seconds : 0;
}

void take(const json& line, CellCourse& course) {
  const auto type = line.value("type", "");
  if (type == "update") course.training_seconds += seconds_of(line);
  if (type != "eval") return;
  course.evaluation_seconds += seconds_of(line);
  course.evaluations.push_back({.update = count(line, "update"),
                                .epoch = number(line, "epoch"),
                                .loss = number(line, "loss"),
                                .accuracy = number(line, "accuracy"),
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
  std::ifstream in(directory / "metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    const auto found = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (found.is_object()) take(found, course);
  }
  return course;
}

}  // namespace rubato::app
