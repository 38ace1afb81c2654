#include "nn/convolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/nn/convolution_by_definition.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

TEST(Convolution, OutputShrinksByTheKernel) {
  const auto layer =
      make_convolution({"conv1", {28, 20, 3}, 10, 5, Activation::none}, Backend::eigen);
  EXPECT_EQ(layer->output_shape(), (Shape{24, 16, 10}));
}

TEST(Convolution, PaddingWidensAndStrideDivides) {
  const auto output = [](Shape input, std::size_t kernel, std::size_t stride, std::size_t padding) {
    return ConvolutionGeometry{"c", input, 7, kernel, Activation::none, stride, padding}.output();
  };
  EXPECT_EQ(output({32, 31, 3}, 3, 1, 1), (Shape{32, 31, 7}));
  EXPECT_EQ(output({32, 31, 3}, 3, 2, 1), (Shape{16, 16, 7}));
  EXPECT_EQ(output({32, 31, 3}, 1, 2, 0), (Shape{16, 16, 7}));
  EXPECT_EQ(output({32, 27, 3}, 7, 2, 3), (Shape{16, 14, 7}));
  EXPECT_EQ(output({1, 1, 3}, 7, 2, 3), (Shape{1, 1, 7}));
}

TEST(Convolution, WithoutABiasStartsAsHeDoes) {
  ConvolutionGeometry geometry{"conv1", {28, 28, 4}, 10, 5};
  geometry.has_bias = false;
  const std::vector<TensorSpec> tensors = make_convolution(geometry, Backend::eigen)->tensors();
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].name, "conv1.weight");
  EXPECT_NEAR(tensors[0].deviation, std::sqrt(2.0 / 250), 1e-12);  // 5 * 5 * 10
}

TEST(Convolution, HasPyTorchsTensorsAndBounds) {
  const auto layer =
      make_convolution({"conv1", {28, 28, 4}, 10, 5, Activation::none}, Backend::eigen);
  const std::vector<TensorSpec> tensors = layer->tensors();
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "conv1.weight");
  EXPECT_EQ(tensors[0].shape, (std::vector<std::size_t>{10, 4, 5, 5}));
  EXPECT_EQ(tensors[1].name, "conv1.bias");
  EXPECT_EQ(tensors[1].shape, (std::vector<std::size_t>{10}));
  EXPECT_NEAR(tensors[0].upper, 0.1, 1e-12);  // 1/sqrt(4 * 5 * 5)
  EXPECT_NEAR(tensors[1].lower, -0.1, 1e-12);
}

TEST(Convolution, SaysThatAKernelDoesNotFit) {
  const ConvolutionGeometry geometry{"conv2", {8, 4, 1}, 10, 5};
  EXPECT_THAT(
      refusal_of([&] { make_convolution(geometry, Backend::eigen); }),
      testing::HasSubstr("layer conv2: its 5x5 kernel does not fit into an input of 8x4 pixels"));
}

TEST(Convolution, RefusesBlocksOfChannelsWithoutOnednn) {
  ConvolutionGeometry in_blocks{"conv2", {8, 8, 32, Order::blocks_of_16}, 32, 3};
  ConvolutionGeometry to_blocks{"conv2", {8, 8, 32}, 32, 3};
  to_blocks.output_order = Order::blocks_of_16;
  for (const ConvolutionGeometry& geometry : {in_blocks, to_blocks}) {
    EXPECT_EQ(refusal_of([&] { make_convolution(geometry, Backend::eigen); }),
              "layer conv2: channels in blocks are for oneDNN's convolutions alone");
  }
}

// What each backend's kernels must do; their own tests say which there are.

TEST_P(ConvolutionKernels, EqualsItsDefinition) {
  for (const ConvolutionGeometry& geometry : test_convolutions()) {
    for (const std::size_t samples : {1U, 4U}) {
      LayerUnderTest test(make(geometry), samples);
      test.forward();
      EXPECT_LT(distance(test.output(), convolution_by_definition(geometry, test)), 1e-6)
          << geometry.kernel << "x" << geometry.kernel << ", " << samples << " samples";
    }
  }
}

TEST_P(ConvolutionKernels, GradientsAreTheDerivatives) {
  for (ConvolutionGeometry geometry : test_convolutions()) {
    SCOPED_TRACE(geometry.kernel);
    geometry.activation = Activation::none;
    LayerUnderTest test(make(geometry), 3);
    // Linear: any step is exact.
    test.expect_derivatives(geometry.has_bias ? 2 : 1, 0.5F, 2e-5);
  }
}

TEST_P(ConvolutionKernels, GradientStopsWhereReluCutOff) {
  const ConvolutionGeometry geometry{"conv", {4, 4, 2}, 3, 2, Activation::relu};
  LayerUnderTest test(make(geometry), 2);
  test.expect_derivatives(2, 2e-4F, 5e-3);
}

TEST_P(ConvolutionKernels, UsesNewParameters) {
  const ConvolutionGeometry geometry = test_convolutions().front();
  LayerUnderTest test(make(geometry), 2);
  test.forward();
  fill_random(test.tensor(0), 77);
  fill_random(test.tensor(1), 78);
  test.forward();
  EXPECT_LT(distance(test.output(), convolution_by_definition(geometry, test)), 1e-6);
}

TEST_P(ConvolutionKernels, NeedsNoInputGradient) {
  LayerUnderTest test(make(test_convolutions().front()), 2);
  test.forward();
  test.backward();
  const std::vector<float> with_it(test.gradient(0).begin(), test.gradient(0).end());
  const std::vector<std::span<float>> gradients = {test.gradient(0), test.gradient(1)};
  fill_random(test.gradient(0), 5);
  test.layer().backward({test.input(), test.output(), test.output_gradient(), {}, {}, gradients});
  EXPECT_EQ(with_it, std::vector<float>(test.gradient(0).begin(), test.gradient(0).end()));
}

}  // namespace
}  // namespace rubato::nn
