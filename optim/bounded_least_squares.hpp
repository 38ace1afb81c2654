// The least sum of squares over seven unknowns, each in a range: Levenberg 1944 and Marquardt 1963,
// doi:10.1137/0111030, with projection onto the ranges. As many unknowns as the performance model
// has parameters: fixed, so that nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

namespace rubato::optim {

constexpr std::size_t unknown_count = 7;
using Unknowns = std::array<double, unknown_count>;

// The sum at one point, with half its gradient and, in the lower triangle, half its curvature as
// far as first derivatives tell it.
class SquaredErrors {
 public:
  // weight * error^2; slope: the error's derivatives.
  void add(double weight, double error, const Unknowns& slope);
  // Beyond `large` an error counts linearly (Huber 1964, doi:10.1214/aoms/1177703732), so that
  // one far off does not draw the others along.
  void add_robustly(double weight, double error, const Unknowns& slope, double large);

  double value() const noexcept { return value_; }
  const Unknowns& gradient() const noexcept { return gradient_; }
  const std::array<Unknowns, unknown_count>& curvature() const noexcept { return curvature_; }

 private:
  void add_slopes(double weight, double error, const Unknowns& slope);

  double value_ = 0;
  Unknowns gradient_{};
  std::array<Unknowns, unknown_count> curvature_{};
};

// An unknown whose lowest and highest value are the same stays there.
struct Ranges {
  Unknowns lowest{}, highest{};
};

struct Minimum {
  Unknowns unknowns{};
  double value = 0;
};

// From `start`, moved into the ranges, downhill to where it hardly goes down any more. Never above
// the value at the start, and finite where that is. No unknown moves by more than 2 in a step.
Minimum minimum(const std::function<SquaredErrors(const Unknowns&)>& squares, const Ranges& ranges,
                const Unknowns& start);

}  // namespace rubato::optim
