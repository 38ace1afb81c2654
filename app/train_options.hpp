// The options of rubato train, and the run that they describe.
#pragma once

#include "app/options.hpp"
#include "runtime/run_options.hpp"

namespace rubato::app {

OptionTable train_table();

// Throws UsageError for a name that is not known (with the nearest) and for combinations that make
// no sense.
runtime::RunOptions run_options(const Options& options);

}  // namespace rubato::app
