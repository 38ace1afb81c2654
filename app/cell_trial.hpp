// A cell of a study tried before any cell runs: whether all that it asks for can be opened, and
// about how long it will take.
//
// The time is that of one minibatch's gradient here, on one core, times the samples that the cell
// trains on, over the ranks that can share them; a sample that is evaluated takes a third of it.
// The beginning, what ranks tell each other and the update itself are left out. Where a cell has
// finished, its time says more (study_progress.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runtime/run_inputs.hpp"
#include "runtime/run_options.hpp"

namespace rubato::app {

// The samples whose gradients a core computes one after the other, where so many share them.
// Evaluations count a third. Nothing where the run's end is not known.
std::optional<double> samples_of_a_core(const runtime::RunOptions& run,
                                        const runtime::RunInputs& inputs, std::uint64_t cores);

class CellTrial {
 public:
  // As many as each cell has, and how many of them have a core of their own.
  CellTrial(std::uint64_t ranks, std::uint64_t cores);

  // The seconds that the run will take; nothing where its end is not known. Throws as
  // runtime::open_inputs() does.
  std::optional<double> seconds(const runtime::RunOptions& run);

 private:
  double seconds_per_sample(const runtime::RunOptions& run, runtime::RunInputs& inputs);

  std::uint64_t at_once_;
  std::map<std::string, double> measured_;  // seconds a sample, by what they depend on
};

}  // namespace rubato::app
