// Weighted averages and the interval of their ratio: what closed forms say of it, and how often it
// holds the truth.
#include "optim/noise_averages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace rubato::optim {
namespace {

constexpr double z = 1.96;

TEST(NoiseAverages, FadeAsWeightsDo) {
  NoiseAverages averages;
  averages.add(0.5, 4, 2);
  averages.fade(0.25);
  averages.add(2, 3, 1);
  EXPECT_EQ(averages.variance, 0.125 * 4 + 2 * 3);
  EXPECT_EQ(averages.square, 0.125 * 2 + 2 * 1);
  EXPECT_EQ(averages.weight, 2.125);
  EXPECT_EQ(averages.variance_square, 0.25 + 36);
  EXPECT_EQ(averages.cross_product, 0.125 + 12);
  EXPECT_EQ(averages.square_square, 0.0625 + 4);
}

TEST(NoiseAverages, SumIsOfBoth) {
  NoiseAverages one, other, both;
  one.add(0.5, 4, 2);
  other.add(2, 3, 1);
  both.add(0.5, 4, 2);
  both.add(2, 3, 1);
  const NoiseAverages sum = one + other;
  EXPECT_EQ(sum.variance, both.variance);
  EXPECT_EQ(sum.square, both.square);
  EXPECT_EQ(sum.weight, both.weight);
  EXPECT_EQ(sum.variance_square, both.variance_square);
  EXPECT_EQ(sum.cross_product, both.cross_product);
  EXPECT_EQ(sum.square_square, both.square_square);
}

void expect_knows_nothing(const NoiseAverages& averages) {
  const NoiseInterval interval = ratio_interval(averages, z);
  EXPECT_EQ(interval.low, 0);
  EXPECT_TRUE(std::isinf(interval.high));
}

TEST(RatioInterval, KnowsNothingFromFewObservations) {
  NoiseAverages averages;
  expect_knows_nothing(averages);
  for (int observation = 0; observation < 3; ++observation) {
    averages.add(0.1, 4 + observation, 2);
    expect_knows_nothing(averages);
  }
  averages.add(0.1, 7, 2);
  EXPECT_FALSE(std::isinf(ratio_interval(averages, z).high));
}

// Observations v = R s: R is all there is to know, however the sums are rounded.
TEST(RatioInterval, IsAPointWhereTheRatioDoesNotVary) {
  for (const double ratio : {2.0, 0.1, 0.3, 0.7, 1.1, 3.3, 17.0 / 3}) {
    NoiseAverages averages;
    for (int observation = 1; observation <= 8; ++observation) {
      averages.add(0.1, ratio * observation, observation);
    }
    const NoiseInterval interval = ratio_interval(averages, z);
    EXPECT_NEAR(interval.low, ratio, 1e-6);
    EXPECT_NEAR(interval.high, ratio, 1e-6);
  }
}

// s = 1 always and v = 3 +- 1, n times: (n (3 - R))^2 <= z^2 n ((3 - R)^2 + 1), so
// |3 - R| = z / sqrt(n - z^2).
TEST(RatioInterval, HasItsClosedFormForASquareThatIsKnown) {
  NoiseAverages averages;
  for (int pair = 0; pair < 10; ++pair) {
    averages.add(1, 2, 1);
    averages.add(1, 4, 1);
  }
  const double half = z / std::sqrt(20 - z * z);
  const NoiseInterval interval = ratio_interval(averages, z);
  EXPECT_NEAR(interval.low, 3 - half, 1e-12);
  EXPECT_NEAR(interval.high, 3 + half, 1e-12);
}

// v = 1 always and s = +-1 around nothing: no upper end, and the lower one 1 / R = z / sqrt(n-z^2).
TEST(RatioInterval, HasNoUpperEndWhereTheSquareMayBeNothing) {
  NoiseAverages averages;
  for (int pair = 0; pair < 10; ++pair) {
    averages.add(1, 1, 1);
    averages.add(1, 1, -1);
  }
  const NoiseInterval interval = ratio_interval(averages, z);
  EXPECT_NEAR(interval.low, std::sqrt(20 - z * z) / z, 1e-12);
  EXPECT_TRUE(std::isinf(interval.high));
}

TEST(RatioInterval, IsInfiniteWhereThereIsNoSquare) {
  NoiseAverages averages;
  for (int observation = 0; observation < 20; ++observation) averages.add(1, 1, 0);
  const NoiseInterval interval = ratio_interval(averages, z);
  EXPECT_TRUE(std::isinf(interval.low));
  EXPECT_TRUE(std::isinf(interval.high));
}

// v = -3 +- 1 and s = 1: all ratios in question are negative.
TEST(RatioInterval, IsZeroWhereTheVarianceComesOutNegative) {
  NoiseAverages averages;
  for (int pair = 0; pair < 10; ++pair) {
    averages.add(1, -2, 1);
    averages.add(1, -4, 1);
  }
  const NoiseInterval interval = ratio_interval(averages, z);
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, 0);
}

TEST(RatioInterval, BeginsAtZeroWhereTheVarianceMayBeNothing) {
  NoiseAverages averages;
  for (int pair = 0; pair < 10; ++pair) {
    averages.add(1, 1, 1);
    averages.add(1, -1, 1);
  }
  const NoiseInterval interval = ratio_interval(averages, z);
  EXPECT_EQ(interval.low, 0);
  EXPECT_NEAR(interval.high, z / std::sqrt(20 - z * z), 1e-12);
}

// 40 observations of true ratio 5, with single values of s that are negative as often as not: the
// truth is inside 95 times of 100, within what 4000 trials can tell.
TEST(RatioInterval, HoldsTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(7);
  const auto noise = [&random] {
    double sum = -6;  // of twelve uniform numbers: variance 1, nearly normal
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    return sum;
  };
  constexpr int trials = 4000;
  int hits = 0;
  for (int trial = 0; trial < trials; ++trial) {
    NoiseAverages averages;
    for (int update = 0; update < 40; ++update) {
      averages.fade(0.99);
      averages.add(0.01, 5 + 2 * noise(), 1 + 2 * noise());
    }
    const NoiseInterval interval = ratio_interval(averages, z);
    if (interval.low <= 5 && 5 <= interval.high) ++hits;
  }
  EXPECT_NEAR(static_cast<double>(hits) / trials, 0.95, 0.012);
}

}  // namespace
}  // namespace rubato::optim
