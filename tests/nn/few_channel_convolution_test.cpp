#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/nn/own_convolution_checks.hpp"

namespace rubato::nn {
namespace {

std::unique_ptr<Layer> make_layer(const ConvolutionGeometry& geometry) {
  return make_few_channel_convolution(geometry, make_eigen_convolution(geometry));
}

// Channels in one block of a pass and in several.
std::vector<ConvolutionGeometry> few_channel_geometries() {
  return {{"conv", {12, 12, 10}, 20, 5, Activation::none},
          {"conv", {7, 9, 3}, 16, 5, Activation::relu},
          {"conv", {6, 5, 2}, 1, 5, Activation::relu, 1, 0, /*has_bias=*/false},
          {"conv", {5, 8, 16}, 17, 5, Activation::none},
          {"conv", {5, 5, 20}, 7, 5, Activation::none}};
}

// None that is left to the other layer: with lanes that have no sample, without, and both.
constexpr std::size_t minibatches[] = {10, 16, 21, 32};

TEST(FewChannelConvolution, EqualsItsDefinition) {
  for (const ConvolutionGeometry& geometry : few_channel_geometries()) {
    for (const std::size_t samples : minibatches) {
      SCOPED_TRACE(testing::Message() << geometry.input.width << ", " << samples);
      ASSERT_TRUE(has_few_channel_passes(geometry));
      expect_outputs_by_definition(make_layer, geometry, samples, 5e-7);
    }
  }
}

TEST(FewChannelConvolution, GradientsAreThoseOfMatrixProducts) {
  for (const ConvolutionGeometry& geometry : few_channel_geometries()) {
    for (const std::size_t samples : minibatches) {
      SCOPED_TRACE(testing::Message() << geometry.input.width << ", " << samples);
      expect_gradients_of_matrix_products(make_layer, geometry, samples);
    }
  }
}

TEST(FewChannelConvolution, GradientStopsWhereReluCutOff) {
  const ConvolutionGeometry geometry{"conv", {6, 6, 2}, 3, 5, Activation::relu};
  LayerUnderTest test(make_layer(geometry), 10);
  test.expect_derivatives(2, 2e-4F, 5e-3);
}

TEST(FewChannelConvolution, LeavesMinibatchesOfManyEmptyLanesToTheOtherLayer) {
  for (const std::size_t samples : {1U, 9U, 10U, 17U, 19U, 20U, 33U}) {
    const ConvolutionGeometry geometry{"conv", {12, 12, 10}, 20, 5, Activation::none};
    const bool is_left = samples < 10 || (samples > 16 && samples < 20);
    LayerUnderTest test(make_layer(geometry), samples);
    LayerUnderTest other(make_eigen_convolution(geometry), samples);
    test.forward();
    other.forward();
    test.backward();
    other.backward();
    EXPECT_EQ(std::ranges::equal(test.output(), other.output()), is_left) << samples;
    EXPECT_EQ(std::ranges::equal(test.gradient(0), other.gradient(0)), is_left) << samples;
    EXPECT_EQ(std::ranges::equal(test.input_gradient(), other.input_gradient()), is_left)
        << samples;
  }
}

// Lanes still hold what the larger minibatch before left in them.
TEST(FewChannelConvolution, ForgetsTheMinibatchBefore) {
  const ConvolutionGeometry geometry{"conv", {7, 9, 3}, 5, 5, Activation::none};
  LayerUnderTest fresh(make_layer(geometry), 10);
  fresh.forward();
  fresh.backward();
  LayerUnderTest used(make_layer(geometry), 32);
  used.forward();
  used.backward();
  std::ranges::copy(fresh.input(), used.input().begin());
  std::ranges::copy(fresh.output_gradient(), used.output_gradient().begin());
  const std::span<float> output = used.output().first(fresh.output().size());
  const std::span<float> input_gradient = used.input_gradient().first(fresh.input().size());
  const std::span<const float> input = used.input().first(fresh.input().size());
  const std::vector<std::span<float>> gradients = {used.gradient(0), used.gradient(1)};
  used.layer().forward({input, {}, output, test_key});
  used.layer().backward(
      {input, output, used.output_gradient().first(output.size()), {}, input_gradient, gradients});
  EXPECT_TRUE(std::ranges::equal(output, fresh.output()));
  EXPECT_TRUE(std::ranges::equal(used.gradient(0), fresh.gradient(0)));
  EXPECT_TRUE(std::ranges::equal(input_gradient, fresh.input_gradient()));
}

TEST(FewChannelConvolution, WritesNothingBesideOutputAndInputGradient) {
  for (const ConvolutionGeometry& geometry : few_channel_geometries()) {
    SCOPED_TRACE(geometry.input.width);
    const std::size_t samples = 16;
    LayerUnderTest test(make_layer(geometry), samples + 1);
    test.forward();
    std::ranges::fill(test.output(), 7.0F);
    std::ranges::fill(test.input_gradient(), 7.0F);
    const std::span<const float> input = test.input().first(samples * geometry.input.elements());
    const std::span<float> output = test.output().first(samples * geometry.output().elements());
    std::vector<std::span<float>> gradients = {test.gradient(0)};
    if (geometry.has_bias) gradients.push_back(test.gradient(1));
    test.layer().forward({input, {}, output, test_key});
    test.layer().backward({input,
                           output,
                           test.output_gradient().first(output.size()),
                           {},
                           test.input_gradient().first(input.size()),
                           gradients});
    for (const float behind : test.output().subspan(output.size())) ASSERT_EQ(behind, 7.0F);
    for (const float behind : test.input_gradient().subspan(input.size())) ASSERT_EQ(behind, 7.0F);
  }
}

// A run must see that its numbers have gone wrong, and in which sample.
TEST(FewChannelConvolution, KeepsWhatIsNotANumber) {
  for (const Activation activation : {Activation::none, Activation::relu}) {
    const ConvolutionGeometry geometry{"conv", {5, 5, 2}, 10, 5, activation};
    LayerUnderTest test(make_layer(geometry), 10);
    test.input()[4 * 50] = std::numeric_limits<float>::quiet_NaN();
    test.forward();
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(std::isnan(test.output()[i]), i / 10 == 4) << i;
    std::ranges::fill(test.output(), 1.0F);
    test.output_gradient()[7 * 10] = std::numeric_limits<float>::quiet_NaN();
    test.backward();
    for (std::size_t i = 0; i < 500; ++i) {
      EXPECT_EQ(std::isnan(test.input_gradient()[i]), i / 50 == 7) << i;
    }
  }
}

TEST(FewChannelConvolution, ReluMakesPositiveZeros) {
  expect_relu_to_make_positive_zeros(make_layer({"conv", {5, 6, 2}, 10, 5, Activation::relu}), 16);
}

TEST(FewChannelConvolution, TellsThatItsTensorsAreFinalBeforeItGoesOn) {
  LayerUnderTest(make_layer(few_channel_geometries().front()), 10)
      .expect_to_tell_that_tensors_are_final();
}

TEST(FewChannelConvolution, IsTakenWhereItHasPassesButForComparing) {
  expect_to_be_taken(make_layer, {"conv", {12, 12, 10}, 20, 5, Activation::none}, 16);
}

TEST(FewChannelConvolution, HasNoPassesForOtherShapes) {
  const auto has_passes = [](std::size_t inputs, std::size_t outputs, std::size_t kernel,
                             std::size_t stride = 1, std::size_t padding = 0) {
    return has_few_channel_passes(
        {"conv", {12, 12, inputs}, outputs, kernel, Activation::none, stride, padding});
  };
  EXPECT_TRUE(has_passes(10, 20, 5));
  EXPECT_TRUE(has_passes(20, 1, 5));
  EXPECT_TRUE(has_passes(16, 17, 5));
  EXPECT_FALSE(has_passes(10, 21, 5));  // a patch backwards would not fit into the cache
  EXPECT_FALSE(has_passes(21, 10, 5));
  EXPECT_FALSE(has_passes(16, 16, 5));  // vectors are full
  EXPECT_FALSE(has_few_channel_passes({"conv", {12, 12, 16, Order::blocks_of_16}, 17, 5}));
  EXPECT_FALSE(has_passes(1, 20, 5));
  EXPECT_FALSE(has_passes(10, 20, 3));
  EXPECT_FALSE(has_passes(10, 20, 5, 2));
  EXPECT_FALSE(has_passes(10, 20, 5, 1, 1));
  EXPECT_THROW(make_layer({"conv", {12, 12, 10}, 20, 4}), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::nn
