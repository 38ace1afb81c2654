// Studies from their text, for the tests of what is made of them.
#pragma once

#include <string>
#include <vector>

#include "app/study_grid.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"
#include "temporary_file.hpp"

namespace rubato::app {

// Lines 1 to 5 of every study here; what follows begins in line 6, in [common].
inline const std::string study_head =
    "[study]\n"
    "name = s\n"
    "[common]\n"
    "data = digits\n"
    "epochs = 2\n";

inline std::vector<StudyCell> cells_of_text(const std::string& rest) {
  const TemporaryFile file(study_head + rest);
  const OptionTable train = train_table();
  return cells_of(read_study(file.path(), train), train);
}

// What is wrong with it, behind the file's name: ":6: ..."
inline std::string complaint_about(const std::string& rest) {
  const TemporaryFile file(study_head + rest);
  const OptionTable train = train_table();
  try {
    cells_of(read_study(file.path(), train), train);
  } catch (const data::ContentError& error) {
    return std::string(error.what()).substr(file.path().size());
  }
  return "nothing";
}

}  // namespace rubato::app
