// The option tables of `rubato trace show`, `check`, `make` and `from-capacity`.
#pragma once

#include "app/options.hpp"

namespace rubato::app {

OptionTable trace_show_table();
OptionTable trace_check_table();
OptionTable trace_make_table();
OptionTable trace_from_capacity_table();

}  // namespace rubato::app
