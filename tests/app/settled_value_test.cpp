#include "app/settled_value.hpp"

#include <gtest/gtest.h>

namespace rubato::app {
namespace {

using namespace std::chrono_literals;

TEST(SettledValue, TakesAValueThatHasStayed) {
  const SettledValue::Clock::time_point start{};
  SettledValue value(500ms);
  EXPECT_EQ(value.see(2, start), 2U);
  EXPECT_EQ(value.see(1, start + 1000ms), 2U);
  EXPECT_EQ(value.see(1, start + 1499ms), 2U);
  EXPECT_EQ(value.see(1, start + 1500ms), 1U);
}

TEST(SettledValue, BeginsAgainAtEveryChange) {
  const SettledValue::Clock::time_point start{};
  SettledValue value(500ms);
  value.see(4, start);
  EXPECT_EQ(value.see(3, start + 100ms), 4U);
  EXPECT_EQ(value.see(4, start + 500ms), 4U);  // a flicker
  EXPECT_EQ(value.see(3, start + 700ms), 4U);
  EXPECT_EQ(value.see(2, start + 1100ms), 4U);
  EXPECT_EQ(value.see(2, start + 1599ms), 4U);
  EXPECT_EQ(value.see(2, start + 1600ms), 2U);
}

TEST(SettledValue, WithoutATimeFollowsAtOnce) {
  const SettledValue::Clock::time_point start{};
  SettledValue value(0ms);
  value.see(4, start);
  EXPECT_EQ(value.see(0, start), 0U);
}

}  // namespace
}  // namespace rubato::app
