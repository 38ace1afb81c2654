// The accumulation pass against a plain loop, over tensors that cross norm blocks and end in
// padding.
#include "optim/gradient_accumulator.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace rubato::optim {
namespace {

constexpr std::size_t total = 3 * 4096 + 64;

// "a" ends in padding, "b" crosses two block boundaries, "c" is a running statistic.
std::vector<TensorRange> three_tensors() {
  return {{"a", 0, 10, true, 0},
          {"b", 16, 2 * 4096 + 1000, true, 0},
          {"c", 2 * 4096 + 1024, 4096 + 64 - 1024, false, 0.1}};
}

std::vector<float> gradient_of(int number) {
  std::vector<float> gradient(total, 0.0F);
  for (const TensorRange& tensor : three_tensors()) {
    for (std::size_t i = tensor.begin; i < tensor.begin + tensor.size; ++i) {
      gradient[i] = std::sin(static_cast<float>(i * 7 + static_cast<std::size_t>(number) * 13)) *
                    (tensor.name == "b" ? 8.0F : 0.25F);
    }
  }
  return gradient;
}

ExactUnits calibrated() {
  ExactUnits units(3);
  units.restore({-1, 4, -1});
  return units;
}

double plain_square(const std::vector<float>& gradient) {
  double square = 0;
  for (std::size_t i = 0; i < 2 * 4096 + 1024; ++i) {
    square += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  }
  return square;
}

TEST(GradientAccumulator, ExactSumsAreThePlainSumsOfRoundedGradients) {
  const ExactUnits units = calibrated();
  std::vector<double> sums(total, 77.0);  // what an earlier update left must not show
  GradientAccumulator accumulator(three_tensors(), total, std::span(sums));
  std::vector<double> expected(total, 0.0);
  accumulator.begin();
  for (int number = 0; number < 5; ++number) {
    const std::vector<float> gradient = gradient_of(number);
    const double square = accumulator.add(gradient, units);
    EXPECT_NEAR(square, plain_square(gradient), 1e-12 * square);
    for (std::size_t i = 0; i < total; ++i) {
      const std::size_t tensor = i < 16 ? 0 : (i < 2 * 4096 + 1024 ? 1 : 2);
      const double constant = units.rounding_constant(tensor);
      expected[i] += (static_cast<double>(gradient[i]) + constant) - constant;
    }
  }
  accumulator.finish();
  EXPECT_EQ(sums, expected);
}

TEST(GradientAccumulator, FastSumsAreThePlainFloatSumsInOrder) {
  const ExactUnits units(3);
  std::vector<float> sums(total, 77.0F);
  GradientAccumulator accumulator(three_tensors(), total, std::span(sums));
  std::vector<float> expected(total, 0.0F);
  accumulator.begin();
  for (int number = 0; number < 3; ++number) {
    const std::vector<float> gradient = gradient_of(number);
    accumulator.add(gradient, units);
    for (std::size_t i = 0; i < total; ++i) expected[i] += gradient[i];
  }
  EXPECT_EQ(sums, expected);
}

TEST(GradientAccumulator, ExactSumsDoNotDependOnTheOrderOfTheGradients) {
  const ExactUnits units = calibrated();
  std::vector<double> forward(total);
  std::vector<double> backward(total);
  GradientAccumulator ahead(three_tensors(), total, std::span(forward));
  GradientAccumulator back(three_tensors(), total, std::span(backward));
  ahead.begin();
  back.begin();
  for (int number = 0; number < 9; ++number) {
    ahead.add(gradient_of(number), units);
    back.add(gradient_of(8 - number), units);
  }
  EXPECT_EQ(forward, backward);
}

// Bits of sums and norms alike, for tensors whose squares are added in the middle of a block.
TEST(GradientAccumulator, AGradientInPartsIsAddedLikeAWholeOne) {
  const ExactUnits units = calibrated();
  std::vector<double> sums(total);
  std::vector<double> sums_in_parts(total);
  GradientAccumulator whole(three_tensors(), total, std::span(sums));
  GradientAccumulator in_parts(three_tensors(), total, std::span(sums_in_parts));
  whole.begin();
  in_parts.begin();
  for (int number = 0; number < 4; ++number) {
    const std::vector<float> gradient = gradient_of(number);
    std::vector<float> under_way(total, 1e30F);
    for (const std::size_t from : {9216UL, 4096UL, 16UL, 16UL}) {
      if (number == 2 && from == 16) break;  // add() does what is left
      std::copy(gradient.begin() + static_cast<std::ptrdiff_t>(from), gradient.end(),
                under_way.begin() + static_cast<std::ptrdiff_t>(from));
      if (from == 4096) std::fill_n(under_way.begin() + 9216, total - 9216, 1e30F);  // statistics
      in_parts.add_from(from, under_way, units);
    }
    EXPECT_EQ(in_parts.add(gradient, units), whole.add(gradient, units));
  }
  EXPECT_EQ(sums_in_parts, sums);
  EXPECT_EQ(in_parts.largest_bits(), whole.largest_bits());
}

TEST(GradientAccumulator, FindsTheLargestMagnitudeOfEachTensorAnywhere) {
  const ExactUnits units(3);
  std::vector<float> sums(total);
  GradientAccumulator accumulator(three_tensors(), total, std::span(sums));
  for (const std::size_t place : {0UL, 9UL, 16UL, 4095UL, 4096UL, 9191UL, 9216UL, total - 1}) {
    accumulator.begin();
    std::vector<float> gradient(total, 0.0F);
    gradient[place] = -2.5F;
    accumulator.add(gradient, units);
    const std::size_t tensor = place < 16 ? 0 : (place < 2 * 4096 + 1024 ? 1 : 2);
    for (std::size_t other = 0; other < 3; ++other) {
      EXPECT_EQ(accumulator.largest_bits()[other],
                other == tensor ? std::bit_cast<std::uint32_t>(2.5F) : 0U)
          << "element " << place;
    }
  }
}

TEST(GradientAccumulator, InfinityAndNanShowInTheLargestBits) {
  const ExactUnits units = calibrated();
  std::vector<double> sums(total);
  GradientAccumulator accumulator(three_tensors(), total, std::span(sums));
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    accumulator.begin();
    std::vector<float> gradient = gradient_of(1);
    gradient[5000] = bad;
    accumulator.add(gradient, units);
    EXPECT_GE(accumulator.largest_bits()[1], ExactUnits::infinity_bits);
    EXPECT_LT(accumulator.largest_bits()[0], ExactUnits::infinity_bits);
  }
}

TEST(GradientAccumulator, AnIdleRankContributesZeros) {
  std::vector<double> sums(total, 3.0);
  GradientAccumulator accumulator(three_tensors(), total, std::span(sums));
  accumulator.begin();
  accumulator.finish();
  EXPECT_EQ(sums, std::vector<double>(total, 0.0));
}

TEST(SumKindNames, AreReadBothWays) {
  EXPECT_EQ(sum_kind("exact"), SumKind::exact);
  EXPECT_EQ(to_string(sum_kind("fast")), "fast");
  EXPECT_THROW(sum_kind("exakt"), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::optim
