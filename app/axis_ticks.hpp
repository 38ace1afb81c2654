// Round numbers along an axis of a plot, few enough to be read in a small one.
#pragma once

#include <vector>

namespace rubato::app {

// The distance of about four ticks over the range: 1, 2 or 5 times a power of ten.
double tick_distance(double least, double most);

// Of a logarithmic axis, `least` positive: powers of ten, and 2 and 5 times them over less than two
// decades; all multiples over less than half a decade.
std::vector<double> logarithmic_ticks(double least, double most);

}  // namespace rubato::app
