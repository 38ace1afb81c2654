// What a study found: how well each cell did, and how soon it did as well as the baseline.
//
// The baseline is the best of the first group (the first variant, or the first optimizer, say, of
// the file): of its batch sizes the one with the highest best accuracy, in the mean over the seeds.
// Every cell then has the evaluation that came closest to the baseline's accuracy, and the time to
// it, as the published study of LARS on CIFAR-10 has them whose form the tables follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cell_course.hpp"
#include "app/study_cell.hpp"

namespace rubato::app {

struct CellResult {
  StudyCell cell;
  bool has_diverged = false;
  std::uint64_t updates = 0;
  std::optional<CellEvaluation> best{};     // the first of equals, as the next
  std::optional<CellEvaluation> closest{};  // to the baseline
  std::optional<CellEvaluation> last{};
  double training_seconds = 0;
};

struct Baseline {
  std::string group;
  std::string batch;
  double accuracy = 0;
};

struct StudyResults {
  std::string name;
  std::optional<Baseline> baseline{};  // none before a cell of the first group has finished
  std::vector<CellResult> cells{};     // those that are over, in the study's order
};

// `courses` are the cells', in the same order.
StudyResults results_of(const std::string& name, const std::vector<StudyCell>& cells,
                        const std::vector<CellCourse>& courses);

// A line for each cell. The columns of the times come last: all others are the same whenever the
// study is run, on whatever ranks.
std::string results_as_csv(const StudyResults& results);

// One document; the times of a cell are in its "times".
std::string results_as_json(const StudyResults& results);

}  // namespace rubato::app
