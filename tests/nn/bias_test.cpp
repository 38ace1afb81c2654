#include "nn/bias.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::nn {
namespace {

TEST(Bias, IsAddedToEveryPixel) {
  const Bias bias(3);
  std::vector<float> values = {1, 2, 3, -4, -5, -6};
  bias.add(std::vector<float>{10, 20, 30}, Activation::none, values);
  EXPECT_EQ(values, (std::vector<float>{11, 22, 33, 6, 15, 24}));
}

TEST(Bias, ComesBeforeTheActivation) {
  const Bias bias(2);
  std::vector<float> values = {1, 2, -3, -4};
  bias.add(std::vector<float>{2, -3}, Activation::relu, values);
  EXPECT_EQ(values, (std::vector<float>{3, 0, 0, 0}));
}

TEST(Bias, GradientIsTheSumOverThePixels) {
  Bias bias(3);
  std::vector<float> gradient(3, 99.0F);
  bias.gradient(std::vector<float>{1, 2, 3, 10, 20, 30, 100, 200, 300}, gradient);
  EXPECT_EQ(gradient, (std::vector<float>{111, 222, 333}));
}

}  // namespace
}  // namespace rubato::nn
