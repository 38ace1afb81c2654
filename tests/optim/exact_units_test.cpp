// The units of the exact sum: closed-form constants, and when a sum stands.
#include "optim/exact_units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace rubato::optim {
namespace {

std::uint32_t bits_of(float magnitude) { return std::bit_cast<std::uint32_t>(magnitude); }

TEST(ExactUnits, TakesTheSmallestPowerOfTwoAboveTheLargestMagnitude) {
  ExactUnits units(4);
  const std::vector<std::uint32_t> largest{bits_of(1.0F), bits_of(0.999F), bits_of(3.0F),
                                           bits_of(1e-30F)};
  units.adopt(largest, 1);
  EXPECT_EQ(units.exponents(), (std::vector<std::int32_t>{1, 0, 2, -99}));
}

TEST(ExactUnits, TheConstantRoundsToTheUnit) {
  ExactUnits units(1);
  units.adopt(std::vector{bits_of(0.75F)}, 1);  // E = 0, u = 2^-34
  const double constant = units.rounding_constant(0);
  const double unit = std::ldexp(1.0, -34);
  const auto rounded = [&](double value) { return (value + constant) - constant; };
  EXPECT_EQ(rounded(unit), unit);
  EXPECT_EQ(rounded(0.4 * unit), 0.0);
  EXPECT_EQ(rounded(-2.6 * unit), -3 * unit);
  EXPECT_EQ(rounded(0.75), 0.75);
}

TEST(ExactUnits, TheFirstUpdateIsSummedAgainAndThenStands) {
  ExactUnits units(1);
  const std::vector largest{bits_of(0.1F)};
  EXPECT_FALSE(units.adopt(largest, 4));
  EXPECT_TRUE(units.adopt(largest, 4));
}

TEST(ExactUnits, AllowsGrowthUpToTheHeadroomAndNoFurther) {
  for (const std::size_t minibatches : {1UL, 2UL, 3UL, 64UL, 65UL}) {
    const int sum_bits = static_cast<int>(std::ceil(std::log2(static_cast<double>(minibatches))));
    for (const bool is_too_large : {false, true}) {
      ExactUnits units(1);
      units.restore({0});
      const int exponent = 17 - sum_bits + (is_too_large ? 1 : 0);
      const float magnitude = std::ldexp(0.9F, exponent);
      const std::vector largest{bits_of(magnitude)};
      EXPECT_EQ(units.would_stand(largest, minibatches), !is_too_large);
      EXPECT_EQ(units.exponents(), std::vector<std::int32_t>{0});
      EXPECT_EQ(units.adopt(largest, minibatches), !is_too_large) << minibatches << " minibatches";
    }
  }
}

// The second sum stands, however many minibatches: the unit makes room for them.
TEST(ExactUnits, ManyMinibatchesTakeHeadroomFromThePrecision) {
  const std::vector largest{bits_of(0.9F)};
  for (const std::size_t minibatches : {131072UL, 131073UL, 1UL << 20U, 1UL << 27U}) {
    ExactUnits units(1);
    EXPECT_FALSE(units.adopt(largest, minibatches));
    EXPECT_TRUE(units.adopt(largest, minibatches)) << minibatches << " minibatches";
  }
  ExactUnits units(1);
  EXPECT_THROW(units.adopt(largest, (1UL << 27U) + 1), std::invalid_argument);
}

TEST(ExactUnits, RepeatsWhenGradientsHaveShrunkBelowTheUnitsPrecision) {
  ExactUnits units(1);
  units.restore({0});
  EXPECT_TRUE(units.adopt(std::vector{bits_of(std::ldexp(0.9F, -10))}, 1));
  units.restore({0});
  EXPECT_FALSE(units.adopt(std::vector{bits_of(std::ldexp(0.9F, -11))}, 1));
}

TEST(ExactUnits, AnAllZeroTensorKeepsItsUnit) {
  ExactUnits units(2);
  units.restore({5, 7});
  EXPECT_TRUE(units.adopt(std::vector<std::uint32_t>{0, bits_of(100.0F)}, 1));
  EXPECT_EQ(units.exponents()[0], 5);
}

TEST(ExactUnits, RestoringAnotherModelsExponentsIsRefused) {
  ExactUnits units(2);
  EXPECT_THROW(units.restore({1, 2, 3}), std::invalid_argument);
}

// The claim itself: rounded addends that fill the whole headroom add to the same bits in any order.
TEST(ExactUnits, SumsOfRoundedAddendsDoNotDependOnTheirOrder) {
  ExactUnits units(1);
  units.restore({3});
  const double constant = units.rounding_constant(0);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<double> addends;
  for (int i = 0; i < 1000; ++i) {
    const float wild = std::ldexp(uniform(random), static_cast<int>(random() % 40) - 30);
    addends.push_back((static_cast<double>(wild) + constant) - constant);
  }
  const double sum = std::accumulate(addends.begin(), addends.end(), 0.0);
  for (int trial = 0; trial < 50; ++trial) {
    std::shuffle(addends.begin(), addends.end(), random);
    EXPECT_EQ(std::accumulate(addends.begin(), addends.end(), 0.0), sum);
  }
}

}  // namespace
}  // namespace rubato::optim
