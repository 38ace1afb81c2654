#include "optim/exact_pair.hpp"

#include <bit>
#include <cmath>

namespace rubato::optim {

namespace {

constexpr int headroom_bits = 34;  // |g|^2 may exceed 2^(2E) by so much
constexpr int sum_bits = 51;       // of a unit, as the constants below allow

double rounding_constant(int unit_exponent) { return std::ldexp(1.5, 52 + unit_exponent); }

}  // namespace

PairUnits::PairUnits(std::int32_t exponent, std::size_t size, std::size_t minibatches) {
  const int high = 2 * exponent + headroom_bits + static_cast<int>(std::bit_width(size)) - sum_bits;
  const int low = high + static_cast<int>(std::bit_width(minibatches)) - sum_bits;
  high_constant_ = rounding_constant(high);
  low_constant_ = rounding_constant(low);
}

void PairUnits::add(double number, ExactPair& sum) const {
  const double high = (number + high_constant_) - high_constant_;
  const double rest = number - high;
  sum.high += high;
  sum.low += (rest + low_constant_) - low_constant_;
}

}  // namespace rubato::optim
