#include "nn/max_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/nn/layer_under_test.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

LayerUnderTest pool(Shape shape, Activation activation, std::size_t samples) {
  LayerUnderTest test(std::make_unique<MaxPool>("pool", shape, activation), samples);
  fill_separated(test.input(), 1);
  return test;
}

TEST(MaxPool, TakesTheLargestOfEachWindow) {
  constexpr Shape shape{4, 6, 10};
  LayerUnderTest test = pool(shape, Activation::none, 3);
  test.forward();
  ASSERT_EQ(test.layer().output_shape(), (Shape{2, 3, 10}));
  const auto at = [&](std::size_t n, std::size_t y, std::size_t x, std::size_t c) {
    return test.input()[((n * 4 + y) * 6 + x) * 10 + c];
  };
  for (std::size_t i = 0; i < test.output().size(); ++i) {
    const std::size_t c = i % 10, x = i / 10 % 3, y = i / 30 % 2, n = i / 60;
    EXPECT_EQ(test.output()[i],
              std::max({at(n, 2 * y, 2 * x, c), at(n, 2 * y, 2 * x + 1, c),
                        at(n, 2 * y + 1, 2 * x, c), at(n, 2 * y + 1, 2 * x + 1, c)}));
  }
}

TEST(MaxPool, GradientsAreTheDerivatives) {
  for (const Activation activation : {Activation::none, Activation::relu}) {
    for (const Shape shape : {Shape{4, 6, 10}, Shape{5, 5, 3}, Shape{2, 3, 17}}) {
      LayerUnderTest test = pool(shape, activation, 2);
      test.expect_derivatives(0, 1e-3F, 1e-3);
    }
  }
}

TEST(MaxPool, AnOddBorderIsLeftOutAndGetsNoGradient) {
  LayerUnderTest test = pool({3, 3, 1}, Activation::none, 1);
  test.input()[8] = 100.0F;
  test.forward();
  ASSERT_EQ(test.output().size(), 1U);
  EXPECT_LT(test.output()[0], 100.0F);
  test.backward();
  for (const std::size_t border : {2U, 5U, 6U, 7U, 8U}) {
    EXPECT_EQ(test.input_gradient()[border], 0.0F);
  }
}

TEST(MaxPool, TheFirstOfEqualsGetsTheGradient) {
  LayerUnderTest test = pool({2, 2, 1}, Activation::none, 1);
  const std::vector<float> input = {1, 3, 3, 3};
  std::copy(input.begin(), input.end(), test.input().begin());
  test.output_gradient()[0] = 7.0F;
  test.forward();
  test.backward();
  EXPECT_THAT(test.input_gradient(), testing::ElementsAre(0, 7, 0, 0));
}

TEST(MaxPool, ReluOfTheMaximumIsTheMaximumOfReluAndItsGradientToo) {
  LayerUnderTest test = pool({2, 2, 2}, Activation::relu, 1);
  const std::vector<float> input = {-1, 1, -2, 2, -3, 3, -4, 4};  // channel 0 is below zero
  std::copy(input.begin(), input.end(), test.input().begin());
  test.output_gradient()[0] = test.output_gradient()[1] = 5.0F;
  test.forward();
  test.backward();
  EXPECT_THAT(test.output(), testing::ElementsAre(0, 4));
  EXPECT_THAT(test.input_gradient(), testing::ElementsAre(0, 0, 0, 0, 0, 0, 0, 5));
}

TEST(MaxPool, NanStaysVisibleAtEveryPlace) {
  for (std::size_t place = 0; place < 4; ++place) {
    LayerUnderTest test = pool({2, 2, 1}, Activation::relu, 1);
    test.input()[place] = std::numeric_limits<float>::quiet_NaN();
    test.forward();
    EXPECT_TRUE(std::isnan(test.output()[0])) << place;
  }
}

TEST(MaxPool, RefusesAnInputSmallerThanItsWindow) {
  EXPECT_THAT(refusal_of([] {
                MaxPool("pool2", {1, 5, 3}, Activation::none);
              }),
              testing::HasSubstr("layer pool2: a 2x2 max-pool does not fit into an input of 1x5"));
}

}  // namespace
}  // namespace rubato::nn
