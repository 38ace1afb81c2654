// Sums of squares in any order and grouping, in the units of the exact sum.
#include "optim/exact_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace rubato::optim {
namespace {

// Squares of a tensor of `size` elements below 2^E, some below it by up to `spread` powers of two.
std::vector<double> squares(std::int32_t exponent, std::size_t size, std::size_t count,
                            unsigned spread = 20) {
  std::mt19937_64 random(count);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double fraction = static_cast<double>(random() >> 11) * 0x1p-53;
    const int below = static_cast<int>(random() % spread);
    values.push_back(std::ldexp(fraction * static_cast<double>(size), 2 * exponent - below));
  }
  return values;
}

ExactPair sum_of(const std::vector<double>& values, const PairUnits& units) {
  ExactPair sum;
  for (const double value : values) units.add(value, sum);
  return sum;
}

void expect_same_bits_in_any_order(std::vector<double> values, const PairUnits& units) {
  const ExactPair reference = sum_of(values, units);
  std::mt19937_64 random(1);
  for (int shuffle = 0; shuffle < 20; ++shuffle) {
    std::shuffle(values.begin(), values.end(), random);
    const auto cut = values.begin() + static_cast<std::ptrdiff_t>(random() % values.size());
    const ExactPair first = sum_of({values.begin(), cut}, units);
    const ExactPair second = sum_of({cut, values.end()}, units);
    EXPECT_EQ(first.high + second.high, reference.high);
    EXPECT_EQ(first.low + second.low, reference.low);
  }
}

TEST(ExactPair, HasTheSameBitsInAnyOrderAndGrouping) {
  for (const std::int32_t exponent : {-126, -20, 0, 3, 120}) {
    for (const std::size_t size : {1UL, 10UL, 1000000UL}) {
      expect_same_bits_in_any_order(squares(exponent, size, 100), {exponent, size, 100});
    }
  }
}

// As large as an update may be whose sum stands: |g| just below 2^(E+17) / m in all elements.
TEST(ExactPair, HasTheSameBitsUpToTheLargestThatMayBe) {
  for (const std::size_t minibatches : {2UL, 3UL, 4UL, 16UL, 1024UL}) {
    const auto exponent = 17 - static_cast<std::int32_t>(std::bit_width(minibatches - 1));
    for (const std::size_t size : {1UL, 3UL, 1000000UL}) {
      expect_same_bits_in_any_order(squares(exponent, size, minibatches, 2),
                                    {0, size, minibatches});
    }
  }
}

TEST(ExactPair, LosesNothingThatShows) {
  for (const std::int32_t exponent : {-100, 0, 100}) {
    const std::vector<double> values = squares(exponent, 1000, 64);
    long double sum = 0;
    for (const double value : values) sum += value;
    const double found = sum_of(values, PairUnits(exponent, 1000, values.size())).value();
    EXPECT_NEAR(found / static_cast<double>(sum), 1, 1e-13);
  }
}

TEST(ExactPair, HoldsTheLargestThatMayBe) {
  constexpr std::size_t size = 3, minibatches = 8;
  const double largest = std::ldexp(1 - 0x1p-20, 17 - 3);
  const double square = 3 * largest * largest;
  const PairUnits units(0, size, minibatches);
  const ExactPair sum = sum_of(std::vector<double>(minibatches, square), units);
  EXPECT_EQ(sum.value(), 8 * square);
}

TEST(ExactPair, PlainSumsFailTheSameTest) {
  std::vector<double> values = squares(0, 1000, 100);
  double forward = 0, backward = 0;
  for (const double value : values) forward += value;
  std::reverse(values.begin(), values.end());
  for (const double value : values) backward += value;
  EXPECT_NE(forward, backward);
}

}  // namespace
}  // namespace rubato::optim
