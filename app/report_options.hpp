// The options of `rubato report`.
#pragma once

#include "app/options.hpp"

namespace rubato::app {

OptionTable report_table();

}  // namespace rubato::app
