// See axis_ticks.hpp.
#include "app/axis_ticks.hpp"

#include <cmath>

namespace rubato::app {
namespace {

constexpr int wanted_ticks = 4;

std::vector<int> multiples_over(double decades) {
  if (decades < 0.5) return {1, 2, 3, 4, 5, 6, 7, 8, 9};
  if (decades < 2) return {1, 2, 5};
  return {1};
}

}  // namespace

double tick_distance(double least, double most) {
  const double wanted = (most - least) / wanted_ticks;
  if (!(wanted > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  if (wanted < 1.5 * power) return power;
  if (wanted < 3.5 * power) return 2 * power;
  return wanted < 7.5 * power ? 5 * power : 10 * power;
}

std::vector<double> logarithmic_ticks(double least, double most) {
  const double first = std::floor(std::log10(least));
  const double last = std::ceil(std::log10(most));
  const double decades = std::log10(most) - std::log10(least);
  const double step = std::ceil((last - first) / (2 * wanted_ticks));
  std::vector<double> ticks;
  for (double power = first; power <= last; power += decades < 2 ? 1 : step) {
    for (const int multiple : multiples_over(decades)) {
      ticks.push_back(multiple * std::pow(10, power));
    }
  }
  return ticks;
}

}  // namespace rubato::app
