// What the library makes of one update, and the mean and deviation of many such numbers.
#pragma once

#include <cmath>
#include <vector>

#include "optim/gradient_noise.hpp"

namespace rubato::optim {

// T and s, unclipped: what the first observation leaves.
struct Estimate {
  double trace, square;
};

inline Estimate library_estimate(const GradientFacts& facts) {
  constexpr double reference_batch = 32;
  GradientNoise noise(reference_batch);
  noise.observe(facts);
  const std::vector<NamedScalar> sums = noise.scalars();  // variance, square, weight
  return {reference_batch * sums[0].value / sums[2].value, sums[1].value / sums[2].value};
}

struct Statistics {
  double sum = 0, sum_of_squares = 0, count = 0;
  void add(double value) {
    sum += value;
    sum_of_squares += value * value;
    ++count;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(sum_of_squares / count - mean() * mean()); }
};

}  // namespace rubato::optim
