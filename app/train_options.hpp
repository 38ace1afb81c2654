// The options of rubato train: one table, from which help, checks and the configuration file
// follow. What they mean together is run_from_options.hpp.
#pragma once

#include "app/options.hpp"

namespace rubato::app {

OptionTable train_table();

}  // namespace rubato::app
