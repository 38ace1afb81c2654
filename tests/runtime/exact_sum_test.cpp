#include "runtime/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace rubato::runtime {
namespace {

ExactSum sum_of(const std::vector<double>& numbers) {
  ExactSum sum;
  for (const double number : numbers) sum += number;
  return sum;
}

TEST(ExactSum, KeepsWhatRoundingWouldLose) {
  EXPECT_EQ(sum_of({1e100, 1, -1e100}).value(), 1);
  EXPECT_EQ(sum_of({1, 1e-300, -1}).value(), 1e-300);
  EXPECT_EQ(sum_of(std::vector<double>(10, 0.1)).value(), 1);  // each is a little more than 0.1
  EXPECT_EQ(ExactSum().value(), 0);
  EXPECT_EQ(sum_of({0.1, -0.1}).parts(), std::vector<double>());
}

// Half a unit rounds to even, and a little more than half rounds up, however small the more.
TEST(ExactSum, RoundsOnceAndToEven) {
  const double unit = std::ldexp(1.0, -52);
  const double tiny = std::ldexp(1.0, -200);
  EXPECT_EQ(sum_of({1, unit / 2}).value(), 1);
  EXPECT_EQ(sum_of({1, unit / 2, tiny}).value(), 1 + unit);
  EXPECT_EQ(sum_of({1 + unit, unit / 2}).value(), 1 + 2 * unit);
  EXPECT_EQ(sum_of({1 + unit, unit / 2, -tiny}).value(), 1 + unit);
  EXPECT_EQ(sum_of({-1, -unit / 2, -tiny}).value(), -1 - unit);
}

TEST(ExactSum, TheOrderCannotBeSeen) {
  std::mt19937 random(1);
  std::vector<double> numbers;
  for (int i = 0; i < 300; ++i) {
    const double number =
        std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200));
    numbers.push_back(random() % 2 == 0 ? number : -number);
  }
  const double expected = sum_of(numbers).value();
  for (int round = 0; round < 50; ++round) {
    std::ranges::shuffle(numbers, random);
    ExactSum halves = sum_of({numbers.begin(), numbers.begin() + 100});
    halves += sum_of({numbers.begin() + 100, numbers.end()});
    EXPECT_EQ(halves.value(), expected);
    EXPECT_EQ(ExactSum(halves.parts()).value(), expected);
  }
}

TEST(ExactSum, SubtractsExactly) {
  ExactSum sum = sum_of({1e50, 3, 1e-50});
  sum -= 1e50;
  EXPECT_EQ(sum, 3);
  sum -= sum_of({3, 1e-50});
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(ExactSum(2.5), 2.5);
}

TEST(ExactSum, SaysWhatIsNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(sum_of({1, infinity, 1}).value(), infinity);
  EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity, 1}).value()));
  EXPECT_TRUE(std::isnan(sum_of({1, std::nan("")}).value()));
  EXPECT_EQ(sum_of({largest, largest}).value(), infinity);
  EXPECT_EQ(ExactSum(sum_of({1, -infinity}).parts()).value(), -infinity);
}

}  // namespace
}  // namespace rubato::runtime
