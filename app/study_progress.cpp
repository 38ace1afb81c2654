// See study_progress.hpp.
#include "app/study_progress.hpp"

#include "app/number_text.hpp"
#include "app/progress_line.hpp"

namespace rubato::app {
namespace {

constexpr double seconds_to_begin = 1;  // MPI, the files, the last checkpoint: measured 0.5 to 1

using Likeness = bool (*)(const StudyCell&, const StudyCell&);

bool are_seeds_apart(const StudyCell& one, const StudyCell& other) {
  return one.group == other.group && one.batch == other.batch;
}
bool have_the_same_batch(const StudyCell& one, const StudyCell& other) {
  return one.batch == other.batch;
}
bool are_of_one_study(const StudyCell& /*one*/, const StudyCell& /*other*/) { return true; }

// Without the second in which it begins.
std::optional<double> predicted_course(const StudyCell& cell, const std::vector<StudyCell>& cells,
                                       const std::vector<CellCourse>& courses) {
  for (const Likeness is_like : {are_seeds_apart, have_the_same_batch, are_of_one_study}) {
    double taken = 0;
    double expected = 0;  // by their trials, or without trials as long as this one
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool are_both_tried = cells[i].trial_seconds && cell.trial_seconds;
      if (courses[i].state != CellState::finished || !is_like(cells[i], cell)) continue;
      taken += courses[i].training_seconds + courses[i].evaluation_seconds;
      expected += are_both_tried ? *cells[i].trial_seconds / *cell.trial_seconds : 1;
    }
    if (expected > 0) return taken / expected;
  }
  return cell.trial_seconds;
}

// To its end, by its own speed; nothing before its first update, or where its end is not known.
std::optional<double> seconds_from(std::uint64_t update, const RunningCell& running) {
  if (!running.total_updates || running.update <= running.begun_at) return std::nullopt;
  const auto done = static_cast<double>(running.update - running.begun_at);
  const auto left = static_cast<double>(*running.total_updates) - static_cast<double>(update);
  return left > 0 ? left * running.seconds / done : 0;
}

std::string place_of(std::size_t index, const std::vector<StudyCell>& cells) {
  return "cell " + std::to_string(index + 1) + "/" + std::to_string(cells.size()) + "  " +
         cells[index].name;
}

}  // namespace

std::optional<double> predicted_seconds(const StudyCell& cell, const std::vector<StudyCell>& cells,
                                        const std::vector<CellCourse>& courses) {
  const auto course = predicted_course(cell, cells, courses);
  return course ? std::optional(seconds_to_begin + *course) : std::nullopt;
}

std::optional<double> predicted_rest(const std::vector<StudyCell>& cells,
                                     const std::vector<CellCourse>& courses) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (courses[i].is_over()) continue;
    const auto seconds = predicted_seconds(cells[i], cells, courses);
    if (!seconds) return std::nullopt;
    sum += *seconds;
  }
  return sum;
}

std::optional<double> seconds_left(const RunningCell& running, const std::vector<StudyCell>& cells,
                                   const std::vector<CellCourse>& courses) {
  const auto predicted = predicted_seconds(cells[running.index], cells, courses);
  auto sum = seconds_from(running.update, running);
  if (!sum) sum = predicted;
  if (!sum) return std::nullopt;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i == running.index || courses[i].is_over()) continue;
    auto seconds = predicted_seconds(cells[i], cells, courses);
    if (!seconds) seconds = seconds_from(0, running);
    if (!seconds) return std::nullopt;
    *sum += *seconds;
  }
  return sum;
}

std::string progress_text(const RunningCell& running, const std::vector<StudyCell>& cells,
                          const std::vector<CellCourse>& courses) {
  std::string text = place_of(running.index, cells) + "  update " + std::to_string(running.update);
  if (running.total_updates) text.append("/").append(std::to_string(*running.total_updates));
  if (const auto left = seconds_left(running, cells, courses)) {
    text += "  " + clock_time(*left) + " left";
  }
  return text;
}

std::string finished_text(std::size_t index, const std::vector<StudyCell>& cells,
                          const std::vector<CellCourse>& courses) {
  const auto& course = courses[index];
  std::string text = place_of(index, cells);
  if (const auto best = best_of(course)) text += "  " + percent(best->accuracy);
  if (course.state == CellState::diverged) text += "  (nan)";
  return text + "  " + fixed(course.training_seconds, 1) + " s";
}

}  // namespace rubato::app
