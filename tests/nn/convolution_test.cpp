#include "nn/convolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

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
  try {
    make_convolution({"conv2", {8, 4, 1}, 10, 5, Activation::none}, Backend::eigen);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("layer conv2: its 5x5 kernel does not fit into an "
                                                 "input of 8x4 pixels"));
  }
}

}  // namespace
}  // namespace rubato::nn
