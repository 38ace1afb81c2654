// Cells and their courses made by hand, for the tests of what is told of them.
#pragma once

#include <string>
#include <vector>

#include "app/cell_course.hpp"
#include "app/study_cell.hpp"

namespace rubato::app {

inline StudyCell made_cell(const std::string& group, const std::string& batch,
                           const std::string& seed) {
  return {.coordinates = {{"batch", batch}, {"optimizer", group}, {"seed", seed}},
          .name = "batch=" + batch + ",optimizer=" + group + ",seed=" + seed,
          .batch = batch,
          .group = "optimizer=" + group,
          .options = {{"batch-size", batch}, {"lr", "0.1"}, {"seed", "4096"}}};
}

// Evaluated after every tenth update, which takes a second.
inline CellCourse made_course(CellState state, const std::vector<double>& accuracies) {
  CellCourse course{.state = state};
  for (const double accuracy : accuracies) {
    course.updates += 10;
    course.training_seconds += 10;
    course.evaluation_seconds += 1;
    course.evaluations.push_back({.update = course.updates,
                                  .epoch = static_cast<double>(course.updates) / 10,
                                  .loss = 1 - accuracy,
                                  .accuracy = accuracy,
                                  .seconds = course.training_seconds});
  }
  return course;
}

}  // namespace rubato::app
