#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/nn/convolution_by_definition.hpp"

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
    LayerUnderTest test(make_one_channel_convolution(geometry), 3);
    test.forward();
    EXPECT_LT(distance(test.output(), convolution_by_definition(geometry, test)), 3e-7);
  }
}

TEST(OneChannelConvolution, GradientsAreThoseOfMatrixProducts) {
  for (ConvolutionGeometry geometry : geometries()) {
    SCOPED_TRACE(geometry.input.width);
    // Where ReLU cuts off is decided by the last bit of some sums.
    geometry.activation = Activation::none;
    LayerUnderTest test(make_one_channel_convolution(geometry), 3);
    LayerUnderTest twin(make_eigen_convolution(geometry), 3);
    test.forward();
    twin.forward();
    test.backward();
    twin.backward();
    EXPECT_LT(distance(test.input_gradient(), twin.input_gradient()), 1e-6);
    for (std::size_t i = 0; i < (geometry.has_bias ? 2U : 1U); ++i) {
      EXPECT_LT(distance(test.gradient(i), twin.gradient(i)), 2e-6) << i;
    }
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

// As everywhere, though no comparison of values would tell.
TEST(OneChannelConvolution, ReluMakesPositiveZeros) {
  const ConvolutionGeometry geometry{"conv", {3, 14, 1}, 10, 3, Activation::relu};
  LayerUnderTest test(make_one_channel_convolution(geometry), 1);
  std::ranges::fill(test.input(), 0.0F);
  std::ranges::fill(test.tensor(0), -1.0F);
  std::ranges::fill(test.tensor(1), -0.0F);
  test.forward();
  for (const float value : test.output()) {
    EXPECT_EQ(value, 0.0F);
    EXPECT_FALSE(std::signbit(value));
  }
}

TEST(OneChannelConvolution, TellsThatItsTensorsAreFinalBeforeItGoesOn) {
  LayerUnderTest(make_one_channel_convolution(geometries().front()), 3)
      .expect_to_tell_that_tensors_are_final();
}

TEST(OneChannelConvolution, IsTakenWhereItHasPassesButForComparing) {
  const ConvolutionGeometry geometry{"conv", {12, 12, 1}, 10, 5, Activation::none};
  LayerUnderTest own(make_one_channel_convolution(geometry), 8);
  own.forward();
  for (const std::string& name : backend_names()) {
    LayerUnderTest test(make_convolution(geometry, backend(name)), 8);
    test.forward();
    test.backward();
    own.backward();
    const std::vector<float> of_test(test.gradient(0).begin(), test.gradient(0).end());
    const std::vector<float> of_own(own.gradient(0).begin(), own.gradient(0).end());
    EXPECT_EQ(of_test == of_own, name != "onednn-direct") << name;
  }
}

TEST(OneChannelConvolution, HasNoPassesForOtherShapes) {
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 2}, 10, 5}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 4}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 7}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 5, Activation::none, 2}));
  EXPECT_FALSE(has_one_channel_passes({"conv", {12, 12, 1}, 10, 5, Activation::none, 1, 1}));
  EXPECT_THROW(make_one_channel_convolution({"conv", {12, 12, 2}, 10, 5}), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::nn
