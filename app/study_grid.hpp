// The cells of a study: every combination of one value from each list of the grid and one of the
// variants. The first list varies slowest, the seeds vary fastest.
#pragma once

#include <vector>

#include "app/options.hpp"
#include "app/study_cell.hpp"
#include "app/study_file.hpp"

namespace rubato::app {

// Each has a seed of its own, from the file's and its name (study_seed.hpp). Throws as CellMaker
// does, and data::ContentError for more than 10000 cells.
std::vector<StudyCell> cells_of(const StudyFile& study, const OptionTable& train,
                                const TryCell& try_cell = {});

}  // namespace rubato::app
