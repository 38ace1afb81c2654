#include "nn/convolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rubato::nn {
namespace {

TEST(Convolution, OutputShrinksByTheKernel) {
  const auto layer =
      make_convolution({"conv1", {28, 20, 3}, 10, 5, Activation::none}, Backend::eigen);
  EXPECT_EQ(layer->output_shape(), (Shape{24, 16, 10}));
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
