// Round numbers along an axis of a plot, few enough to be read in a small one.
#pragma once

#include <vector>

namespace rubato::app {

// The distance of about four ticks over the range: 1, 2 or 5 times a power of ten.
double tick_distance(double least, double most);

// Of a logarithmic axis, `least` positive: powers of ten, and more of their multiples the fewer
// decades there are; round numbers over a short range. Some may lie beside the range.
std::vector<double> logarithmic_ticks(double least, double most);

// Of an axis in per cent that is logarithmic in what is missing to 100: 50, 80, 90, 95, 98, 99 and
// so on; round numbers over a short range. None lies beside the range.
std::vector<double> ticks_near_hundred(double least, double most);

}  // namespace rubato::app
