// A study as its file says it: which trainings, not yet one by one (study_grid.hpp).
//
//   [study]                     what it is called and where it goes
//   name = batches              required
//   out = studies/batches       its directory; default the name
//   base-batch = 64             of the formulas; default the smallest batch size there is
//
//   [common]                    options of rubato train, the same for every cell
//   data = digits
//   epochs = 15
//   lr = 0.05 * k               numbers may be formulas that know batch, base_batch and
//                               k = batch / base_batch (formula.hpp)
//   [grid]                      options with a list of values: every combination is a cell
//   batch-size = 64, 128, 256
//   seed = 1, 2, 3
//
//   [variant with-lars]         options that go together; each variant with each combination
//   optimizer = lars
//
// '#' begins a comment. Boost.ProgramOptions reads the lines, as it does for --config.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

// A line NAME = VALUE.
struct StudyEntry {
  std::string key;
  std::string value;
  std::size_t line = 0;    // from 1
  std::size_t column = 0;  // of the value, from 1
};

// A section and its lines.
struct StudySection {
  std::string name;      // "grid", "variant with-lars"
  std::size_t line = 0;  // of its heading
  std::vector<StudyEntry> entries{};
};

struct StudyFile {
  std::string path;
  std::string name;
  std::string directory;
  std::optional<StudyEntry> base_batch{};
  StudySection common{};
  StudySection grid{};
  std::vector<StudySection> variants{};  // named without "variant "
};

// Throws data::MissingFileError, or data::ContentError with the line: what is no line of such a
// file, a section or key that is not known (with the nearest), a key given twice, a value missing,
// a grid without a list. The values themselves are not looked at. `train` is train_table().
StudyFile read_study(const std::string& path, const OptionTable& train);

// The beginning of every complaint: "FILE:LINE: ".
std::string place_in(const std::string& path, std::size_t line);

}  // namespace rubato::app
