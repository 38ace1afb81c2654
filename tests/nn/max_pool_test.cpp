#include "nn/max_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/nn/blocks_of_channels.hpp"
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

TEST(MaxPool, TakesBlocksOfChannels) {
  for (const Order order : orders_in_blocks) {
    for (const Activation activation : {Activation::none, Activation::relu}) {
      for (const Shape shape : {Shape{4, 6, 48}, Shape{5, 7, 32}}) {
        LayerUnderTest test = pool(in_blocks(shape, order), activation, 3);
        LayerUnderTest twin = pool(shape, activation, 3);
        EXPECT_EQ(test.layer().output_shape(), twin.layer().output_shape());
        expect_same(test, twin, 1e-12);
      }
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

// Fewer channels than a vector has, whole vectors, and more.
constexpr std::size_t channel_counts[] = {1, 8, 11};

// One window, the same in every channel.
LayerUnderTest window(const std::array<float, 4>& pixels, Activation activation,
                      std::size_t channels) {
  LayerUnderTest test = pool({2, 2, channels}, activation, 1);
  for (std::size_t i = 0; i < test.input().size(); ++i) test.input()[i] = pixels[i / channels];
  test.forward();
  std::ranges::fill(test.output_gradient(), 7.0F);
  test.backward();
  return test;
}

TEST(MaxPool, TheFirstOfEqualsGetsTheGradient) {
  for (const std::size_t channels : channel_counts) {
    LayerUnderTest test = window({1, 3, 3, 3}, Activation::none, channels);
    for (std::size_t i = 0; i < test.input_gradient().size(); ++i) {
      EXPECT_EQ(test.input_gradient()[i], i / channels == 1 ? 7.0F : 0.0F) << i;
    }
  }
}

TEST(MaxPool, ReluOfTheMaximumIsTheMaximumOfReluAndItsGradientToo) {
  for (const std::size_t channels : channel_counts) {
    LayerUnderTest below = window({-1, -2, -3, -4}, Activation::relu, channels);
    EXPECT_THAT(below.output(), testing::Each(0.0F));
    EXPECT_THAT(below.input_gradient(), testing::Each(0.0F));
    LayerUnderTest at_zero = window({-0.0F, -1, -0.0F, -2}, Activation::relu, channels);
    for (const float value : at_zero.output()) EXPECT_TRUE(value == 0.0F && !std::signbit(value));
    EXPECT_THAT(at_zero.input_gradient(), testing::Each(0.0F));
    LayerUnderTest above = window({1, 2, -3, 4}, Activation::relu, channels);
    EXPECT_THAT(above.output(), testing::Each(4.0F));
    for (std::size_t i = 0; i < above.input_gradient().size(); ++i) {
      EXPECT_EQ(above.input_gradient()[i], i / channels == 3 ? 7.0F : 0.0F) << i;
    }
  }
}

TEST(MaxPool, NanStaysVisibleAtEveryPlace) {
  for (const std::size_t channels : channel_counts) {
    for (std::size_t place = 0; place < 4; ++place) {
      std::array<float, 4> pixels = {1, 2, 3, 4};
      pixels[place] = std::numeric_limits<float>::quiet_NaN();
      LayerUnderTest test = window(pixels, Activation::relu, channels);
      for (const float value : test.output()) EXPECT_TRUE(std::isnan(value)) << place;
      for (std::size_t i = 0; i < test.input_gradient().size(); ++i) {
        EXPECT_EQ(test.input_gradient()[i], i / channels == place ? 7.0F : 0.0F) << i;
      }
    }
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
