#include "optim/squared_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "optim/inner_products.hpp"

namespace rubato::optim {
namespace {

template <class T>
class SquaredNorm : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SquaredNorm, Types);

TYPED_TEST(SquaredNorm, IsThatOfAPlainLoop) {
  for (const std::size_t size : {0UL, 1UL, 4UL, 15UL, 16UL, 29UL, 4096UL, 4099UL}) {
    std::vector<TypeParam> values;
    double plain = 0;
    for (std::size_t i = 0; i < size; ++i) {
      values.push_back(static_cast<TypeParam>(std::sin(0.37 * static_cast<double>(i))));
      plain += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    EXPECT_NEAR(squared_norm(std::span<const TypeParam>(values)), plain, 1e-13 * plain) << size;
  }
}

// Next to 2^54 a double has steps of 4: only the order of the lanes makes this sum.
TYPED_TEST(SquaredNorm, AddsTheLanesInTheirOrder) {
  constexpr double large = 134'217'728;  // 2^27
  std::vector<TypeParam> values(19, TypeParam{1});
  values[1] = values[17] = static_cast<TypeParam>(large);
  const double second_lane = large * large + large * large;
  const double first_group = ((1.0 + 1.0) + second_lane) + ((1.0 + 1.0) + 1.0);
  EXPECT_EQ(squared_norm(std::span<const TypeParam>(values)), (first_group + 4.0) + (4.0 + 4.0));
}

TEST(SquaredNormOfFloats, HasTheBitsOfTheInnerProduct) {
  std::vector<float> values;
  for (int i = 0; i < 4096; ++i) values.push_back(static_cast<float>(std::sin(0.7 * i)));
  EXPECT_EQ(squared_norm(std::span<const float>(values)), product(values, values));
}

TEST(SquaredNormOfFloats, GrowsInPiecesOfWholeRows) {
  std::vector<float> values;
  for (int i = 0; i < 1003; ++i) values.push_back(static_cast<float>(std::cos(1.3 * i)));
  const std::span<const float> all = values;
  SquareSum sum;
  sum.add(all.first(512));
  sum.add(all.subspan(512));
  EXPECT_EQ(sum.value(), squared_norm(all));
}

}  // namespace
}  // namespace rubato::optim
