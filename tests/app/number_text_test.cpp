#include "app/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::app {
namespace {

TEST(NumberText, HasAsManyDigitsAsItIsTold) {
  EXPECT_EQ(fixed(12.5, 2), "12.50");
  EXPECT_EQ(fixed(0.125, 0), "0");
  EXPECT_EQ(fixed(-1e6, 1), "-1000000.0");
  EXPECT_EQ(fixed(-std::nan(""), 2), "nan") << "as printed anywhere else";
}

TEST(NumberText, TellsSharesInPerCent) {
  EXPECT_EQ(percent(0.97214), "97.21 %");
  EXPECT_EQ(percent(1), "100.00 %");
}

TEST(NumberText, CountsThings) {
  EXPECT_EQ(counted(1, "minibatch"), "1 minibatch");
  EXPECT_EQ(counted(2, "minibatch"), "2 minibatches");
  EXPECT_EQ(counted(12, "epoch"), "12 epochs");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
}

}  // namespace
}  // namespace rubato::app
