#include "optim/norm_block.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::optim {
namespace {

template <class T>
class TakeMean : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TakeMean, Types);

TYPED_TEST(TakeMean, ScalesAndMeasuresWholeRowsOfLanes) {
  for (const std::size_t size : {0UL, 8UL, 24UL, 4088UL, 4096UL}) {
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

// Lanes are added as ((0+1)+(2+3)) + ((4+5)+(6+7)), which in double tells this order from others.
TEST(TakeMeanOrder, IsThatOfTheLanes) {
  const std::vector<double> sums = {1e9, 1, 1, 1, 1, 1, 1, 1e9};
  std::vector<float> mean(sums.size());
  const double expected = ((1e18 + 1) + (1.0 + 1.0)) + ((1.0 + 1.0) + (1.0 + 1e18));
  EXPECT_EQ(take_mean(std::span<const double>(sums), 1.0, mean.data()), expected);
}

}  // namespace
}  // namespace rubato::optim
