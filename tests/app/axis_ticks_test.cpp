#include "app/axis_ticks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rubato::app {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

TEST(AxisTicks, AreAboutFourRoundNumbers) {
  EXPECT_DOUBLE_EQ(tick_distance(0, 4), 1);
  EXPECT_DOUBLE_EQ(tick_distance(45, 98), 10);
  EXPECT_DOUBLE_EQ(tick_distance(0, 8.1), 2);
  EXPECT_DOUBLE_EQ(tick_distance(0, 0.02), 0.005);
  EXPECT_DOUBLE_EQ(tick_distance(0, 34000), 10000);
  EXPECT_DOUBLE_EQ(tick_distance(3, 3), 1) << "of nothing";
}

TEST(AxisTicks, AlongALogarithmicAxisAreFewerThanTheDecadesAllow) {
  const auto near = Pointwise(testing::DoubleEq(), std::vector<double>{1, 2, 5, 10, 20, 50});
  EXPECT_THAT(logarithmic_ticks(1, 10), near);
  EXPECT_EQ(logarithmic_ticks(11, 45).size(), 12U) << "less than a decade: 15, 20, 30 and others";
  EXPECT_THAT(logarithmic_ticks(13.5, 28),
              Pointwise(testing::DoubleEq(), std::vector<double>{15, 20, 25}));
  EXPECT_THAT(logarithmic_ticks(0.01, 100),
              Pointwise(DoubleNear(1e-12), std::vector<double>{0.01, 0.1, 1, 10, 100}));
  EXPECT_LE(logarithmic_ticks(1e-20, 1e20).size(), 9U);
}

TEST(AxisTicks, NearHundredAreRoundInWhatIsMissing) {
  const auto near = [](std::vector<double> ticks) {
    return Pointwise(DoubleNear(1e-9), std::move(ticks));
  };
  EXPECT_THAT(ticks_near_hundred(8, 91.6), near({50, 80, 90}));
  EXPECT_THAT(ticks_near_hundred(0, 99.5), near({0, 90, 99}));
  EXPECT_THAT(ticks_near_hundred(88.5, 91.6), near({89, 90, 91})) << "a short range";
  EXPECT_THAT(ticks_near_hundred(99, 100), near({99, 99.5, 99.8, 99.9}));
}

}  // namespace
}  // namespace rubato::app
