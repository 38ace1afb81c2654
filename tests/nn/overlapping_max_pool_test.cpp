#include "nn/overlapping_max_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {
namespace {

LayerUnderTest pool(Shape shape, std::size_t samples) {
  LayerUnderTest test(std::make_unique<OverlappingMaxPool>(shape), samples);
  fill_separated(test.input(), 1);
  return test;
}

// The largest of the 3x3 pixels around (2y, 2x), by the definition.
float largest_around(LayerUnderTest& test, std::size_t n, std::size_t y, std::size_t x,
                     std::size_t c) {
  const auto& [height, width, channels, order] = test.layer().input_shape();
  float largest = -std::numeric_limits<float>::infinity();
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const bool is_inside =
          row + 1 >= 2 * y && row <= 2 * y + 1 && column + 1 >= 2 * x && column <= 2 * x + 1;
      if (!is_inside) continue;
      largest =
          std::max(largest, test.input()[((n * height + row) * width + column) * channels + c]);
    }
  }
  return largest;
}

TEST(OverlappingMaxPool, TakesTheLargestOfEachWindow) {
  for (const Shape shape : {Shape{4, 6, 10}, Shape{5, 7, 3}, Shape{1, 1, 64}, Shape{2, 9, 8}}) {
    LayerUnderTest test = pool(shape, 3);
    test.forward();
    const auto& [height, width, channels, order] = test.layer().output_shape();
    ASSERT_EQ(height, (shape.height + 1) / 2);
    ASSERT_EQ(width, (shape.width + 1) / 2);
    for (std::size_t i = 0; i < test.output().size(); ++i) {
      const std::size_t pixel = i / channels;
      EXPECT_EQ(test.output()[i],
                largest_around(test, pixel / (height * width), pixel / width % height,
                               pixel % width, i % channels));
    }
  }
}

TEST(OverlappingMaxPool, PaddingNeverWins) {
  LayerUnderTest test = pool({3, 3, 2}, 1);
  std::fill(test.input().begin(), test.input().end(), -5.0F);
  test.forward();
  EXPECT_THAT(test.output(), testing::Each(-5.0F));
}

TEST(OverlappingMaxPool, GradientsAreTheDerivatives) {
  for (const Shape shape : {Shape{4, 6, 10}, Shape{5, 5, 3}, Shape{1, 3, 17}}) {
    LayerUnderTest test = pool(shape, 2);
    test.expect_derivatives(0, 1e-3F, 1e-3);
  }
}

TEST(OverlappingMaxPool, APixelThatWinsSeveralWindowsGetsTheSumAndTheFirstOfEqualsWins) {
  LayerUnderTest test = pool({3, 3, 1}, 1);
  const std::vector<float> input = {1, 2, 2, 0, 3, 0, 0, 0, 3};  // four windows of 2x2 pixels
  std::copy(input.begin(), input.end(), test.input().begin());
  const std::vector<float> gradient = {1, 10, 100, 1000};
  std::copy(gradient.begin(), gradient.end(), test.output_gradient().begin());
  test.forward();
  test.backward();
  EXPECT_THAT(test.output(), testing::Each(3.0F));
  EXPECT_THAT(test.input_gradient(), testing::ElementsAre(0, 0, 0, 0, 1111, 0, 0, 0, 0));
}

TEST(OverlappingMaxPool, NanStaysVisible) {
  for (std::size_t place = 0; place < 9; ++place) {
    LayerUnderTest test = pool({3, 3, 1}, 1);
    test.input()[place] = std::numeric_limits<float>::quiet_NaN();
    test.forward();
    EXPECT_TRUE(std::any_of(test.output().begin(), test.output().end(), [](float value) {
      return std::isnan(value);
    })) << place;
  }
}

}  // namespace
}  // namespace rubato::nn
