#include "app/number_text.hpp"

#include <gtest/gtest.h>

namespace rubato::app {
namespace {

TEST(NumberText, HasAsManyDigitsAsItIsTold) {
  EXPECT_EQ(fixed(12.5, 2), "12.50");
  EXPECT_EQ(fixed(0.125, 0), "0");
  EXPECT_EQ(fixed(-1e6, 1), "-1000000.0");
}

TEST(NumberText, TellsSharesInPerCent) {
  EXPECT_EQ(percent(0.97214), "97.21 %");
  EXPECT_EQ(percent(1), "100.00 %");
}

}  // namespace
}  // namespace rubato::app
