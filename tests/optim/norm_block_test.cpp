#include "optim/norm_block.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace rubato::optim {
namespace {

template <class T>
class TakeMean : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TakeMean, Types);

TYPED_TEST(TakeMean, ScalesAndMeasuresWholeRowsOfLanes) {
  for (const std::size_t size : {0UL, 16UL, 48UL, 4080UL, 4096UL}) {
    std::vector<TypeParam> sums(size);
    std::vector<float> expected(size);
    double square = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sums[i] = static_cast<TypeParam>(i % 17) - TypeParam{5.5};
      expected[i] = static_cast<float>(sums[i] / 4);
      square += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
    }
    std::vector<float> mean(size, 99.0F);
    const double found = take_mean(std::span<const TypeParam>(sums), TypeParam{0.25}, mean.data());
    EXPECT_DOUBLE_EQ(found, square) << size << " values";
    EXPECT_EQ(mean, expected) << size << " values";
  }
}

// Lanes are added as (((0+1)+(2+3)) + ((4+5)+(6+7))) + (((8+9)+(10+11)) + ((12+13)+(14+15))). Next
// to 2^54 a double has steps of 4, so any other order of these squares makes another sum.
TEST(TakeMeanOrder, IsThatOfTheLanes) {
  constexpr double large = 134'217'728;  // 2^27
  constexpr double half = 67'108'864;    // 2^26
  const std::vector<double> sums = {2, large, 1, 3, half, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1};
  std::vector<float> mean(sums.size());
  const double lower = ((4 + large * large) + (1.0 + 9.0)) + ((half * half + 1) + (1.0 + 1.0));
  const double upper = ((1.0 + 4.0) + (1.0 + 1.0)) + ((1.0 + 1.0) + (1.0 + 1.0));
  const double expected = lower + upper;
  EXPECT_EQ(take_mean(std::span<const double>(sums), 1.0, mean.data()), expected);
  double one_by_one = 0;
  double backwards = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    one_by_one += sums[i] * sums[i];
    backwards += sums[15 - i] * sums[15 - i];
  }
  EXPECT_NE(one_by_one, expected);
  EXPECT_NE(backwards, expected);
}

// Of the second row as of the first.
TEST(TakeMeanOrder, AddsEveryRowToTheSameLanes) {
  constexpr double large = 134'217'728;  // 2^27
  std::vector<double> sums(32, 1.0);
  sums[5] = sums[21] = large;
  std::vector<float> mean(sums.size());
  const double lane = large * large + large * large;
  const double low = (2.0 + 2.0) + (2.0 + 2.0);
  EXPECT_EQ(take_mean(std::span<const double>(sums), 1.0, mean.data()),
            (low + ((2 + lane) + (2.0 + 2.0))) + (low + low));
}

// Whether the machine fuses them or not.
TEST(AddProduct, RoundsOnce) {
  std::mt19937 bits(5);
  std::uniform_real_distribution<float> mantissa(-2.0F, 2.0F);
  std::uniform_int_distribution<int> exponent(-149, 126);
  const auto draw = [&] { return std::ldexp(mantissa(bits), exponent(bits)); };
  for (int round = 0; round < 100'000; ++round) {
    const Floats a = {draw(), draw(), draw(), draw()};
    const Floats b = {draw(), draw(), draw(), draw()};
    Doubles sum = widened(Floats{draw(), draw(), draw(), draw()});
    const Doubles before = sum;
    add_product(widened(a), widened(b), sum);
    for (std::size_t lane = 0; lane < lane_group; ++lane) {
      volatile double product = static_cast<double>(a[lane]) * static_cast<double>(b[lane]);
      ASSERT_EQ(sum[lane], before[lane] + product) << a[lane] << " * " << b[lane];
    }
  }
}

}  // namespace
}  // namespace rubato::optim
