// How far a study is, and how long the rest will take.
//
// A cell that has finished tells how long the same takes with another seed. For others there is the
// trial of the cell, times how much longer than their trials the finished cells took: those of the
// same batch (an update costs about the same under every rule), or else all. Without a trial it is
// the mean of those cells. Each cell takes a second more to begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cell_course.hpp"
#include "app/study_cell.hpp"

namespace rubato::app {

// The seconds of the cell from its beginning; nothing where neither a finished cell nor a trial
// tells it.
std::optional<double> predicted_seconds(const StudyCell& cell, const std::vector<StudyCell>& cells,
                                        const std::vector<CellCourse>& courses);

// Of all cells that are not over, from their beginnings; nothing where one is not known.
std::optional<double> predicted_rest(const std::vector<StudyCell>& cells,
                                     const std::vector<CellCourse>& courses);

// The cell that is running.
struct RunningCell {
  std::size_t index = 0;
  std::uint64_t begun_at = 0;  // the update that its newest start goes on from
  std::uint64_t update = 0;    // the last one done
  std::optional<std::uint64_t> total_updates{};
  double seconds = 0;  // of this start
};

// The seconds until the study's end: of the running cell by its own speed, of the others as
// predicted_rest() has it, or where that is not known as if they took as long as this one. Nothing
// while that is not known either.
std::optional<double> seconds_left(const RunningCell& running, const std::vector<StudyCell>& cells,
                                   const std::vector<CellCourse>& courses);

// "cell 3/12  batch=64,seed=1  update 20/300  1:05 left".
std::string progress_text(const RunningCell& running, const std::vector<StudyCell>& cells,
                          const std::vector<CellCourse>& courses);

// Of a cell that is over: "cell 3/12  batch=64,seed=1  91.25 %  16.0 s", the best accuracy and the
// seconds of training.
std::string finished_text(std::size_t index, const std::vector<StudyCell>& cells,
                          const std::vector<CellCourse>& courses);

}  // namespace rubato::app
