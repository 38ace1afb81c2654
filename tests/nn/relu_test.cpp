#include "nn/relu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rubato::nn {
namespace {

TEST(Relu, CutsOffBelowZero) {
  std::vector<float> values = {-2, -0.5F, 0, 0.5F, 3, -1, 7, -8, 9, 10, -11};
  relu(values);
  EXPECT_EQ(values, (std::vector<float>{0, 0, 0, 0.5F, 3, 0, 7, 0, 9, 10, 0}));
}

TEST(Relu, GradientPassesWhereTheOutputIsPositive) {
  const std::vector<float> output = {0, 1, 0, 2, 3, 0, 0, 0, 1, 0.1F};
  std::vector<float> gradient = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  relu_backward(output, gradient);
  EXPECT_EQ(gradient, (std::vector<float>{0, 2, 0, 4, 5, 0, 0, 0, 9, 10}));
}

TEST(Relu, KeepsNan) {
  std::vector<float> values(9, std::numeric_limits<float>::quiet_NaN());
  relu(values);
  for (const float value : values) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace rubato::nn
