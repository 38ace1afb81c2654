// The options of rubato train that say how parameters learn from a gradient.
#pragma once

#include <vector>

#include "app/options.hpp"

namespace rubato::app {

// --lr --rule ..., --schedule ..., --optimizer ...
std::vector<Option> learning_options();

}  // namespace rubato::app
