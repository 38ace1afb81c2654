// The time of day as text, for records that people compare: UTC, to the second.
#pragma once

#include <string>

namespace rubato::runtime {

std::string utc_time();  // "2000-01-01T00:00:00Z"

}  // namespace rubato::runtime
