// The lists of a study's grid, and all combinations of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "app/study_file.hpp"

namespace rubato::app {

// One value of a list: the lines that it makes of a cell, and what it is called.
struct AxisValue {
  std::string label;
  std::vector<StudyEntry> entries;  // one, but for a variant
};

struct StudyAxis {
  std::string name;  // "batch" for batch-size, "variant", or the option's
  std::vector<AxisValue> values;
};

// In the file's order, the variants after the lists, the seeds last. Throws data::ContentError with
// the line for a value that stands twice in a list, and for a comma without one before it.
std::vector<StudyAxis> axes_of(const StudyFile& study, const OptionTable& train);

// The values of a list, each with its line and column: "64, 128 256". Commas separate too, except
// in options that are text (mlp:512,512), but for a trace: there only one at the end of a word
// does.
std::vector<StudyEntry> values_of(const StudyEntry& list, OptionKind kind);

}  // namespace rubato::app
