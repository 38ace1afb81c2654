// The option tables of `rubato trace show`, `check` and `make`.
#pragma once

#include "app/options.hpp"

namespace rubato::app {

OptionTable trace_show_table();
OptionTable trace_check_table();
OptionTable trace_make_table();

}  // namespace rubato::app
