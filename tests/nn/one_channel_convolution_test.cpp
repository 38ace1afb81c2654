#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/nn/own_convolution_checks.hpp"

namespace rubato::nn {
namespace {

// Rows shorter than what is computed at once, as long, and longer; fewer channels than a vector
// has, as many, and more.
std::vector<ConvolutionGeometry> geometries() {
  return {{"conv", {28, 28, 1}, 10, 5, Activation::none},
          {"conv", {13, 28, 1}, 32, 3, Activation::relu},
          {"conv", {6, 16, 1}, 20, 5, Activation::relu},
          {"conv", {7, 14, 1}, 16, 3, Activation::none, 1, 0, /*has_bias=*/false},
          {"conv", {9, 17, 1}, 5, 3, Activation::none},
          {"conv", {5, 33, 1}, 17, 5, Activation::none},
          {"conv", {8, 5, 1}, 1, 5, Activation::relu, 1, 0, /*has_bias=*/false},
          {"conv", {3, 4, 1}, 8, 3, Activation::none}};
}

TEST(OneChannelConvolution, EqualsItsDefinition) {
  for (const ConvolutionGeometry& geometry : geometries()) {
    SCOPED_TRACE(geometry.input.width);
    ASSERT_TRUE(has_one_channel_passes(geometry));
    expect_outputs_by_definition(make_one_channel_convolution, geometry, 3, 3e-7);
  }
}

TEST(OneChannelConvolution, GradientsAreThoseOfMatrixProducts) {
  for (const ConvolutionGeometry& geometry : geometries()) {
    SCOPED_TRACE(geometry.input.width);
    expect_gradients_of_matrix_products(make_one_channel_convolution, geometry, 3);
  }
}

TEST(OneChannelConvolution, GradientStopsWhereReluCutOff) {
  const ConvolutionGeometry geometry{"conv", {4, 4, 1}, 3, 3, Activation::relu};
  LayerUnderTest test(make_one_channel_convolution(geometry), 2);
  test.expect_derivatives(2, 2e-4F, 5e-3);
}

TEST(OneChannelConvolution, WritesNothingBesideItsOutput) {
  for (const ConvolutionGeometry& geometry : geometries()) {
    SCOPED_TRACE(geometry.input.width);
    const std::size_t samples = 2;
    LayerUnderTest test(make_one_channel_convolution(geometry), samples + 1);
    test.forward();
    std::ranges::fill(test.output(), 7.0F);
    const std::span<float> output = test.output().first(samples * geometry.output().elements());
    test.layer().forward({test.input().first(samples * geometry.input.elements()), {}, output, {}});
    for (const float behind : test.output().subspan(output.size())) ASSERT_EQ(behind, 7.0F);
  }
}

// A run must see that its numbers have gone wrong.
TEST(OneChannelConvolution, KeepsWhatIsNotANumber) {
  for (const Activation activation : {Activation::none, Activation::relu}) {
    const ConvolutionGeometry geometry{"conv", {3, 14, 1}, 10, 3, activation};
    LayerUnderTest test(make_one_channel_convolution(geometry), 1);
    test.input()[13] = std::numeric_limits<float>::quiet_NaN();
    test.forward();
    EXPECT_FALSE(std::isnan(test.output()[109]));  // the last pixel but one
    for (const float value : test.output().subspan(110)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(OneChannelConvolution, ReluMakesPositiveZeros) {
  expect_relu_to_make_positive_zeros(
      make_one_channel_convolution({"conv", {3, 14, 1}, 10, 3, Activation::relu}), 1);
}

TEST(OneChannelConvolution, TellsThatItsTensorsAreFinalBeforeItGoesOn) {
  LayerUnderTest(make_one_channel_convolution(geometries().front()), 3)
      .expect_to_tell_that_tensors_are_final();
}

TEST(OneChannelConvolution, IsTakenWhereItHasPassesButForComparing) {
  expect_to_be_taken(make_one_channel_convolution, {"conv", {12, 12, 1}, 10, 5, Activation::none},
                     8);
}

TEST(OneChannelConvolution, HasNoPassesForOtherShapes) {
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 2}, 10, 5}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 4}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 7}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 5, Activation::none, 2}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 5, Activation::none, 1, 1}));
  ConvolutionGeometry to_blocks{"conv", {12, 12, 1}, 32, 5};
  EXPECT_TRUE(has_one_channel_passes(to_blocks));
  to_blocks.output_order = Order::blocks_of_16;
  EXPECT_FALSE(has_one_channel_passes(to_blocks));
  EXPECT_THROW(make_one_channel_convolution({"conv", {12, 12, 2}, 10, 5}), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::nn
