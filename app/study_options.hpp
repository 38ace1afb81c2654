// The options of `rubato study`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

OptionTable study_table();

struct StudyPlan {
  std::string file;
  std::vector<std::string> launcher;  // mpirun
  std::uint64_t ranks = 1;            // of every cell
  bool is_dry_run = false;
};

// Throws UsageError for more ranks than there is room for.
StudyPlan study_plan(const Options& options);

}  // namespace rubato::app
