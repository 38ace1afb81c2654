#include "optim/norm_block.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
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

// ((0 + 1) + (2 + 3)) of each group of four, and then of the groups. These squares are so large
// next to each other that every other order tried here makes another sum.
TEST(TakeMeanOrder, IsThatOfTheLanes) {
  constexpr double a = 134'217'728;  // 2^27
  constexpr double b = 67'108'864;   // 2^26
  constexpr double c = 33'554'432;   // 2^25
  const std::vector<double> sums = {1, b, 1, 1, 2, a, 1, 3, c, b, 2, 1, 2, 3, b, c};
  std::vector<float> mean(sums.size());
  const auto square = [&](std::size_t lane) { return sums[lane] * sums[lane]; };
  using Four = std::array<double, 4>;
  const auto groups = [&](const std::function<double(const Four&)>& add) {
    Four result{};
    for (std::size_t i = 0; i < 16; i += 4) {
      result[i / 4] = add({square(i), square(i + 1), square(i + 2), square(i + 3)});
    }
    return result;
  };
  const auto in_pairs = [](const Four& x) { return (x[0] + x[1]) + (x[2] + x[3]); };
  const auto one_by_one = [](const Four& x) { return ((x[0] + x[1]) + x[2]) + x[3]; };
  const auto crosswise = [](const Four& x) { return (x[0] + x[2]) + (x[1] + x[3]); };
  const double found = take_mean(std::span<const double>(sums), 1.0, mean.data());
  EXPECT_EQ(found, in_pairs(groups(in_pairs)));
  EXPECT_NE(found, in_pairs(groups(one_by_one)));
  EXPECT_NE(found, in_pairs(groups(crosswise)));
  EXPECT_NE(found, one_by_one(groups(in_pairs)));
  EXPECT_NE(found, crosswise(groups(in_pairs)));
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
    const auto draw_group = [&] {
      Floats group{};
      for (std::size_t lane = 0; lane < lane_group; ++lane) group[lane] = draw();
      return group;
    };
    const Floats a = draw_group();
    const Floats b = draw_group();
    Doubles sum = widened(draw_group());
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
