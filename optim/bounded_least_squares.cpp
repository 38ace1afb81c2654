// Each step solves (curvature + damping * its diagonal) step = -gradient for the unknowns that are
// free: not those at an end of their range that the gradient would drive out of it. A step that
// leads down is kept and the damping relaxed; one that does not is dropped and tried again with
// more of it.
#include "optim/bounded_least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace rubato::optim {
namespace {

constexpr double longest_move = 2;
constexpr int most_steps = 60;
constexpr double small_decrease = 1e-3;   // of the sum, relative
constexpr double negligible_sum = 1e-10;  // errors of 1e-5
constexpr double strongest_damping = 1e8;

Unknowns projected(Unknowns x, const Ranges& ranges) {
  for (std::size_t i = 0; i < unknown_count; ++i) {
    x[i] = std::clamp(x[i], ranges.lowest[i], ranges.highest[i]);
  }
  return x;
}

bool is_free(std::size_t i, const Unknowns& x, const SquaredErrors& at, const Ranges& ranges) {
  const double downhill = -at.gradient()[i];
  return downhill > 0 ? x[i] < ranges.highest[i] : downhill < 0 && x[i] > ranges.lowest[i];
}

// By Cholesky's decomposition. An unknown that is not free has the row of a unit matrix, so it does
// not move; one without influence a pivot of next to nothing, but of no effect on the others.
Unknowns damped_step(const Unknowns& x, const SquaredErrors& at, const Ranges& ranges,
                     double damping) {
  std::array<Unknowns, unknown_count> lower{};
  std::array<bool, unknown_count> free{};
  Unknowns step{};
  for (std::size_t i = 0; i < unknown_count; ++i) {
    free[i] = is_free(i, x, at, ranges);
    if (!free[i]) {
      lower[i][i] = 1;
      continue;
    }
    for (std::size_t j = 0; j <= i; ++j) {
      if (!free[j]) continue;
      double rest = at.curvature()[i][j];
      if (i == j) rest += damping * rest + 1e-14;
      for (std::size_t k = 0; k < j; ++k) rest -= lower[i][k] * lower[j][k];
      lower[i][j] = i == j ? std::sqrt(std::max(rest, 1e-14)) : rest / lower[j][j];
    }
    step[i] = -at.gradient()[i];
    for (std::size_t k = 0; k < i; ++k) step[i] -= lower[i][k] * step[k];
    step[i] /= lower[i][i];
  }
  for (std::size_t i = unknown_count; i-- > 0;) {
    for (std::size_t k = i + 1; k < unknown_count; ++k) step[i] -= lower[k][i] * step[k];
    step[i] /= lower[i][i];
  }
  return step;
}

Unknowns moved(const Unknowns& x, const Unknowns& step, const Ranges& ranges) {
  Unknowns next = x;
  for (std::size_t i = 0; i < unknown_count; ++i) {
    next[i] += std::clamp(step[i], -longest_move, longest_move);
  }
  return projected(next, ranges);
}

}  // namespace

void SquaredErrors::add(double weight, double error, const Unknowns& slope) {
  value_ += weight * error * error;
  add_slopes(weight, error, slope);
}

void SquaredErrors::add_robustly(double weight, double error, const Unknowns& slope, double large) {
  const double size = std::abs(error);
  if (size <= large) return add(weight, error, slope);
  value_ += weight * large * (2 * size - large);
  add_slopes(weight * large / size, error, slope);
}

void SquaredErrors::add_slopes(double weight, double error, const Unknowns& slope) {
  for (std::size_t i = 0; i < unknown_count; ++i) {
    if (slope[i] == 0) continue;
    const double weighted = weight * slope[i];
    gradient_[i] += weighted * error;
    for (std::size_t j = 0; j <= i; ++j) curvature_[i][j] += weighted * slope[j];
  }
}

Minimum minimum(const std::function<SquaredErrors(const Unknowns&)>& squares, const Ranges& ranges,
                const Unknowns& start) {
  Unknowns x = projected(start, ranges);
  SquaredErrors at = squares(x);
  double damping = 1e-3;
  for (int steps = 0; steps < most_steps && at.value() > negligible_sum; ++steps) {
    const Unknowns next = moved(x, damped_step(x, at, ranges, damping), ranges);
    if (next == x) break;
    const SquaredErrors there = squares(next);
    if (!(there.value() < at.value())) {
      damping *= 8;
      if (damping > strongest_damping) break;
      continue;
    }
    const bool is_level = there.value() > (1 - small_decrease) * at.value();
    x = next;
    at = there;
    if (is_level) break;
    damping = std::max(damping / 8, 1e-9);
  }
  return {x, at.value()};
}

}  // namespace rubato::optim
