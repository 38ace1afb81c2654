// What `rubato study --dry-run` says: the cells, how far each is, the options in which they differ,
// and how long the rest will take (study_progress.hpp).
#pragma once

#include <ostream>
#include <vector>

#include "app/cell_course.hpp"
#include "app/study_cell.hpp"

namespace rubato::app {

// `courses` are the cells', in the same order.
void print_listing(std::ostream& out, const std::vector<StudyCell>& cells,
                   const std::vector<CellCourse>& courses);

}  // namespace rubato::app
