// See axis_ticks.hpp.
#include "app/axis_ticks.hpp"

#include <algorithm>
#include <cmath>

namespace rubato::app {
namespace {

constexpr int wanted_ticks = 4;
constexpr double short_range = 3;  // a factor so small that a logarithmic axis is nearly linear

std::vector<double> multiples_over(double decades) {
  if (decades < 1) return {1, 1.5, 2, 3, 5, 7};
  if (decades < 2) return {1, 2, 5};
  return {1};
}

std::vector<double> round_ticks(double least, double most) {
  const double distance = tick_distance(least, most);
  std::vector<double> ticks;
  for (double step = std::ceil(least / distance); step * distance <= most; ++step) {
    ticks.push_back(step * distance);
  }
  return ticks;
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
  if (most < short_range * least) return round_ticks(least, most);
  const double first = std::floor(std::log10(least));
  const double last = std::ceil(std::log10(most));
  const double decades = std::log10(most) - std::log10(least);
  const double step = std::ceil((last - first) / (2 * wanted_ticks));
  std::vector<double> ticks;
  for (double power = first; power <= last; power += decades < 2 ? 1 : step) {
    for (const double multiple : multiples_over(decades)) {
      ticks.push_back(multiple * std::pow(10, power));
    }
  }
  return ticks;
}

std::vector<double> ticks_near_hundred(double least, double most) {
  std::vector<double> ticks;
  const double least_missing = std::max(100 - most, 0.1);
  if (100 - least > short_range * least_missing) {
    ticks = logarithmic_ticks(least_missing, 100 - least);
    for (double& tick : ticks) tick = 100 - tick;
    std::ranges::sort(ticks);
  } else {
    ticks = round_ticks(least, most);
  }
  std::erase_if(ticks, [&](double tick) { return tick < least || tick > most; });
  return ticks;
}

}  // namespace rubato::app
