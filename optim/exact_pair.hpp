// Sums of squared norms in which the order cannot be seen: each number is split into two parts that
// are multiples of units known beforehand, and the parts are summed apart, without rounding
// (pre-rounding with two bins: Demmel & Nguyen 2015, doi:10.1109/TC.2014.2345391).
//
// The units follow from those of the exact sum (exact_units.hpp): where an update's sum stands, a
// tensor of `size` elements has |g| < 2^(E+17) / m in each of m minibatches, so that
// sum |g|^2 < size 2^(2E+34). The first unit keeps that sum below 2^51 of it, the second one the
// sum of what the first leaves: together more than 90 bits below the largest that can be.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rubato::optim {

struct ExactPair {
  double high = 0;
  double low = 0;

  double value() const noexcept { return high + low; }
};

class PairUnits {
 public:
  // Of a tensor with exponent E (ExactUnits::exponents()), for an update of so many minibatches.
  PairUnits(std::int32_t exponent, std::size_t size, std::size_t minibatches);

  // Adds a number that is at least 0. Pairs of the same units may be added part by part.
  void add(double number, ExactPair& sum) const;

 private:
  double high_constant_;
  double low_constant_;
};

}  // namespace rubato::optim
