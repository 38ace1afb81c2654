// The interval is where a quadratic in the ratio is not positive; which of its roots bound it
// follows from the signs of its ends.
#include "optim/noise_averages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato::optim {

void NoiseAverages::fade(double kept) {
  for (double* sum : {&variance, &square, &weight}) *sum *= kept;
  for (double* sum : {&variance_square, &cross_product, &square_square}) *sum *= kept * kept;
}

void NoiseAverages::add(double one_weight, double one_variance, double one_square) {
  const double weighted_variance = one_weight * one_variance;
  const double weighted_square = one_weight * one_square;
  variance += weighted_variance;
  square += weighted_square;
  weight += one_weight;
  variance_square += weighted_variance * weighted_variance;
  cross_product += weighted_variance * weighted_square;
  square_square += weighted_square * weighted_square;
}

NoiseAverages operator+(const NoiseAverages& left, const NoiseAverages& right) {
  return {left.variance + right.variance,
          left.square + right.square,
          left.weight + right.weight,
          left.variance_square + right.variance_square,
          left.cross_product + right.cross_product,
          left.square_square + right.square_square};
}

NoiseInterval ratio_interval(const NoiseAverages& averages, double z) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double a = averages.square * averages.square - z * z * averages.square_square;
  const double b =
      -2 * (averages.variance * averages.square - z * z * averages.cross_product);  // of R
  const double c = averages.variance * averages.variance - z * z * averages.variance_square;
  // Below 0 by rounding only where a > 0: the ratio of the averages is between the two roots.
  const double root = std::sqrt(std::max(b * b - 4 * a * c, 0.0));
  if (a > 0) return {std::max((-b - root) / (2 * a), 0.0), std::max((-b + root) / (2 * a), 0.0)};
  if (c <= 0) return {0, infinity};  // it holds 0
  // From the positive root on, written so that a may be 0.
  return {2 * c / (root - b), infinity};
}

}  // namespace rubato::optim
