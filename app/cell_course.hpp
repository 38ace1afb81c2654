// How a cell's run went, from its directory: whether it is over, and how well it did when.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace rubato::app {

// A run that has diverged is over, as one that has finished: its result is that it diverged.
enum class CellState { absent, begun, finished, diverged };

// On the test set.
struct CellEvaluation {
  std::uint64_t update = 0;
  double epoch = 0;
  double loss = 0;      // NaN where it was not finite
  double accuracy = 0;  // of 1
  double seconds = 0;   // of training until then, without evaluations
};

// Whether it tells anything: of outputs that are no numbers the most likely class means nothing.
bool has_outcome(const CellEvaluation& evaluation);

struct CellCourse {
  CellState state = CellState::absent;
  std::uint64_t updates = 0;                     // done
  std::optional<std::uint64_t> total_updates{};  // where the end is known
  std::vector<CellEvaluation> evaluations{};     // in order
  double training_seconds = 0;
  double evaluation_seconds = 0;

  bool is_over() const noexcept {
    return state == CellState::finished || state == CellState::diverged;
  }
};

// Of DIR/state.json and DIR/metrics.jsonl; what cannot be read there is as if it were not.
CellCourse course_of(const std::filesystem::path& directory);

// The best accuracy of a course, the first of equals; none without an evaluation that tells any.
std::optional<CellEvaluation> best_of(const CellCourse& course);

// The seconds of training until the first evaluation with at least this accuracy (of 1).
std::optional<double> seconds_to(const CellCourse& course, double accuracy);

}  // namespace rubato::app
