// --replay DIR: a run again, with its configuration and, where it was adaptive, its decisions.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

// The words of a command line of `table` (train_table()), --replay DIR written out:
//
//   --config DIR/config.ini --trace DIR/decisions.csv --reference-batch INITIAL
//
// or DIR/trace.csv for a run that followed a trace, or no trace for one batch size. Without
// --replay they stay as they are. Throws UsageError as the table, data::MissingFileError where DIR
// holds no run.
std::vector<std::string> with_replay_written_out(const OptionTable& table,
                                                 std::vector<std::string> words);

}  // namespace rubato::app
