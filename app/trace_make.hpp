// The trace that `rubato trace make` was asked for, as the text of a file.
#pragma once

#include <string>

#include "app/options.hpp"

namespace rubato::app {

// `options` come from trace_make_table(). Throws UsageError for an unknown shape, for an option
// that the shape has not, and for one that it lacks.
std::string make_trace(const Options& options);

}  // namespace rubato::app
