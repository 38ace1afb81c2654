// The accumulation pass against a plain loop, over tensors that cross norm blocks and end in
// padding.
#include "optim/gradient_accumulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

// Ready to add, on top of what an earlier update left.
template <class Sum>
struct Summing {
  TensorSegments segments{tensors(), total_elements};
  std::vector<Sum> sums = std::vector<Sum>(total_elements, Sum{77});
  GradientAccumulator accumulator{segments, 3, std::span(sums)};
  ExactUnits units{3};

  Summing() {
    units.restore({-1, 4, -1});
    accumulator.begin();
  }
  double add(std::size_t number) { return accumulator.add(gradient_sum(number), units); }
};

double plain_square(const std::vector<float>& gradient) {
  double square = 0;
  for (std::size_t i = 0; i < parameter_elements; ++i) {
    square += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  }
  return square;
}

TEST(GradientAccumulator, ExactSumsAreThePlainSumsOfRoundedGradients) {
  Summing<double> summing;
  std::vector<double> expected(total_elements, 0.0);
  for (std::size_t number = 0; number < 5; ++number) {
    const std::vector<float> gradient = gradient_sum(number);
    const double square = summing.add(number);
    EXPECT_NEAR(square, plain_square(gradient), 1e-12 * square);
    for (std::size_t i = 0; i < total_elements; ++i) {
      const double constant = summing.units.rounding_constant(tensor_of(i));
      expected[i] += (static_cast<double>(gradient[i]) + constant) - constant;
    }
  }
  EXPECT_EQ(summing.sums, expected);
}

TEST(GradientAccumulator, FastSumsAreThePlainFloatSumsInOrder) {
  Summing<float> summing;
  std::vector<float> expected(total_elements, 0.0F);
  for (std::size_t number = 0; number < 3; ++number) {
    summing.add(number);
    std::ranges::transform(expected, gradient_sum(number), expected.begin(), std::plus());
  }
  EXPECT_EQ(summing.sums, expected);
}

template <class Sum>
void expect_two_to_be_as_one_after_the_other() {
  const double tolerance = std::is_same_v<Sum, float> ? 1e-5 : 0;
  Summing<Sum> singly;
  Summing<Sum> in_pairs;
  for (const std::size_t number : {0UL, 2UL, 4UL}) {
    const double first = singly.add(number);
    const double second = singly.add(number + 1);
    const auto squares = in_pairs.accumulator.add_two(gradient_sum(number),
                                                      gradient_sum(number + 1), in_pairs.units);
    EXPECT_EQ(squares, (std::array{first, second}));
    EXPECT_EQ(in_pairs.accumulator.largest_bits(), singly.accumulator.largest_bits());
  }
  for (std::size_t i = 0; i < total_elements; ++i) {
    ASSERT_NEAR(in_pairs.sums[i], singly.sums[i], tolerance) << i;
  }
}

TEST(GradientAccumulator, TwoAtATimeAreAsOneAfterTheOther) {
  expect_two_to_be_as_one_after_the_other<double>();
  expect_two_to_be_as_one_after_the_other<float>();
}

TEST(GradientAccumulator, ExactSumsDoNotDependOnTheOrderOfTheGradients) {
  Summing<double> ahead;
  Summing<double> back;
  for (std::size_t number = 0; number < 9; ++number) {
    ahead.add(number);
    back.add(8 - number);
  }
  EXPECT_EQ(ahead.sums, back.sums);
}

// Bits of sums and norms alike, for tensors whose squares are added in the middle of a block.
TEST(GradientAccumulator, AGradientInPartsIsAddedLikeAWholeOne) {
  Summing<double> whole;
  Summing<double> in_parts;
  for (std::size_t number = 0; number < 4; ++number) {
    const std::vector<float> gradient = gradient_sum(number);
    std::vector<float> under_way(total_elements, 1e30F);
    for (const std::size_t from : {parameter_elements, 8192UL, 5008UL, 5008UL, 4096UL}) {
      if (number == 2 && from == 4096) break;  // add() does what is left
      std::copy(gradient.begin() + static_cast<std::ptrdiff_t>(from), gradient.end(),
                under_way.begin() + static_cast<std::ptrdiff_t>(from));
      EXPECT_EQ(in_parts.accumulator.add_from(from, under_way, in_parts.units), from);
    }
    EXPECT_EQ(in_parts.accumulator.add(gradient, in_parts.units), whole.add(number));
  }
  EXPECT_EQ(in_parts.sums, whole.sums);
  EXPECT_EQ(in_parts.accumulator.largest_bits(), whole.accumulator.largest_bits());
}

TEST(GradientAccumulator, AddsOnlyWholeSegmentsOfWhatIsFinalAndSaysSo) {
  Summing<double> whole;
  Summing<double> in_parts;
  const std::vector<float> gradient = gradient_sum(3);
  std::vector<float> under_way(total_elements, 1e30F);
  for (const auto& [from, expected] :
       {std::pair{13'000UL, parameter_elements},  // in the last block
        std::pair{8000UL, 8192UL}, std::pair{4097UL, 5008UL}}) {
    std::copy(gradient.begin() + static_cast<std::ptrdiff_t>(from), gradient.end(),
              under_way.begin() + static_cast<std::ptrdiff_t>(from));
    EXPECT_EQ(in_parts.accumulator.add_from(from, under_way, in_parts.units), expected);
  }
  EXPECT_EQ(in_parts.accumulator.add(gradient, in_parts.units), whole.add(3));
  EXPECT_EQ(in_parts.sums, whole.sums);
}

TEST(GradientAccumulator, LookingFindsWhatAddingDoesAndAddsNothing) {
  Summing<double> adding;
  Summing<double> looking;
  Summing<float> looking_in_parts;
  const std::vector<float> gradient = gradient_sum(2);
  const double square = adding.add(2);
  EXPECT_EQ(looking.accumulator.look(gradient), square);
  EXPECT_EQ(looking_in_parts.accumulator.look_from(5008, gradient), 5008U);
  EXPECT_EQ(looking_in_parts.accumulator.look(gradient), square);
  EXPECT_EQ(looking.accumulator.largest_bits(), adding.accumulator.largest_bits());
  EXPECT_EQ(looking_in_parts.accumulator.largest_bits(), adding.accumulator.largest_bits());
  EXPECT_EQ(looking.sums, std::vector<double>(total_elements, 77.0));
  EXPECT_EQ(looking_in_parts.sums, std::vector<float>(total_elements, 77.0F));
}

// Added or looked at, whole or in parts: every segment is shown once, as it was taken, and their
// squares add up to the gradient's.
TEST(GradientAccumulator, ShowsEverySegmentOnceAndKnowsItsSquare) {
  Summing<double> summing;
  const std::vector<float> gradient = gradient_sum(3);
  std::vector<int> shown(summing.segments.all().size());
  summing.accumulator.show_segments_to([&](std::size_t index, std::span<const float> part) {
    const Segment& segment = summing.segments.all()[index];
    ++shown[index];
    ASSERT_EQ(part.size(), segment.size);
    EXPECT_TRUE(std::equal(part.begin(), part.end(),
                           gradient.begin() + static_cast<std::ptrdiff_t>(segment.begin)));
  });
  summing.accumulator.add_from(5008, gradient, summing.units);
  const double added = summing.accumulator.add(gradient, summing.units);
  summing.accumulator.look_from(7777, gradient);
  EXPECT_EQ(summing.accumulator.look(gradient), added);
  EXPECT_EQ(shown, std::vector<int>(shown.size(), 2));
  double sum = 0;
  for (std::size_t i = 0; i < summing.segments.parameters(); ++i) {
    sum += summing.accumulator.squares()[i];
  }
  EXPECT_NEAR(sum, added, 1e-12 * added);
}

TEST(GradientAccumulator, FindsTheLargestMagnitudeOfEachTensorAnywhere) {
  Summing<float> summing;
  for (const std::size_t place : {0UL, 4999UL, 5008UL, 8191UL, 8192UL, parameter_elements - 4,
                                  parameter_elements, total_elements - 7}) {
    std::vector<float> gradient(total_elements, 0.0F);
    gradient[place] = -2.5F;
    for (const bool looks : {false, true}) {
      summing.accumulator.begin();
      looks ? summing.accumulator.look(gradient) : summing.accumulator.add(gradient, summing.units);
      for (std::size_t tensor = 0; tensor < 3; ++tensor) {
        EXPECT_EQ(summing.accumulator.largest_bits()[tensor],
                  tensor == tensor_of(place) ? std::bit_cast<std::uint32_t>(2.5F) : 0U)
            << "element " << place;
      }
    }
  }
}

TEST(GradientAccumulator, InfinityAndNanShowInTheLargestBits) {
  Summing<double> summing;
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    summing.accumulator.begin();
    std::vector<float> gradient = gradient_sum(1);
    gradient[6000] = bad;
    summing.accumulator.add(gradient, summing.units);
    EXPECT_GE(summing.accumulator.largest_bits()[1], ExactUnits::infinity_bits);
    EXPECT_LT(summing.accumulator.largest_bits()[0], ExactUnits::infinity_bits);
  }
}

TEST(SumKindNames, AreReadBothWays) {
  EXPECT_EQ(sum_kind("exact"), SumKind::exact);
  EXPECT_EQ(to_string(sum_kind("fast")), "fast");
  EXPECT_THROW(sum_kind("exakt"), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::optim
