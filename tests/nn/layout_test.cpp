#include "nn/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

Layout three_tensors() {
  Layout layout;
  layout.add_parameter("fc.weight", {3, 7});  // 21 elements, 32 with padding
  layout.add_parameter("fc.bias", {16});      // fills its cache line exactly
  layout.add_running_statistic("bn.running_mean", {5}, 0.1);
  return layout;
}

TEST(Layout, StartsEveryTensorOnACacheLine) {
  const Layout layout = three_tensors();
  EXPECT_EQ(layout.tensors()[0].offset, 0U);
  EXPECT_EQ(layout.tensors()[1].offset, 32U);
  EXPECT_EQ(layout.tensors()[2].offset, 48U);
  EXPECT_EQ(layout.tensors()[0].size, 21U);
  EXPECT_EQ(layout.tensors()[2].size, 5U);
}

TEST(Layout, CountsParametersWithAndWithoutPadding) {
  const Layout layout = three_tensors();
  EXPECT_EQ(layout.parameter_elements(), 48U);
  EXPECT_EQ(layout.total_elements(), 64U);
  EXPECT_EQ(layout.parameter_count(), 37U);
}

TEST(Layout, NamesItsParameters) {
  Layout layout = three_tensors();
  const std::vector<std::string> before = layout.parameter_names();
  layout.add_running_statistic("statistic", {2}, 0.1);
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(layout.parameter_names(), before);
  EXPECT_EQ(before.front(), layout.tensors().front().name);
}

TEST(Layout, ReturnsIndicesAndKeepsMomentum) {
  Layout layout;
  EXPECT_EQ(layout.add_parameter("a", {1}), 0U);
  EXPECT_EQ(layout.add_running_statistic("b", {1}, 0.25), 1U);
  EXPECT_TRUE(layout.tensors()[0].is_parameter);
  EXPECT_FALSE(layout.tensors()[1].is_parameter);
  EXPECT_EQ(layout.tensors()[1].momentum, 0.25);
}

TEST(Layout, RefusesAParameterBehindARunningStatistic) {
  Layout layout = three_tensors();
  EXPECT_THAT(refusal_of<std::logic_error>([&] { layout.add_parameter("late.weight", {2}); }),
              testing::AllOf(testing::HasSubstr("late.weight"),
                             testing::HasSubstr("all parameters come first")));
}

TEST(Layout, DescribesEveryTensorOnALine) {
  EXPECT_EQ(three_tensors().description(),
            "fc.weight [3,7] at 0\n"
            "fc.bias [16] at 32\n"
            "bn.running_mean [5] at 48 running, momentum 0.1\n");
}

}  // namespace
}  // namespace rubato::nn
