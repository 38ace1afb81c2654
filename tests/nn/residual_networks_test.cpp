#include "nn/residual_networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/nn/model_under_test.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

using testing::Contains;
using testing::StartsWith;

Layout layout_of(const std::string& spec, InputShape shape, std::size_t classes) {
  return make_model(spec, shape, classes, Backend::eigen)->layout();
}

std::vector<std::string> names_of(const Layout& layout) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : layout.tensors()) names.push_back(tensor.name);
  return names;
}

// He et al., section 4.2, with the projections that option B adds: 1x1 convolution and BatchNorm
// from 16 to 32 and from 32 to 64 channels.
TEST(ResidualNetworks, SmallOnesHaveThePapersParametersAndTheProjections) {
  const auto expected = [](std::size_t blocks) {
    const auto basic = [](std::size_t in, std::size_t width) {
      return 9 * in * width + 9 * width * width + 4 * width;
    };
    std::size_t count = 9 * 3 * 16 + 2 * 16 + 64 * 10 + 10;
    count += blocks * basic(16, 16) + (blocks - 1) * (basic(32, 32) + basic(64, 64));
    count += basic(16, 32) + 16 * 32 + 2 * 32 + basic(32, 64) + 32 * 64 + 2 * 64;
    return count;
  };
  EXPECT_EQ(expected(3), 272474U);  // as the networks derived from torchvision count
  EXPECT_EQ(layout_of("resnet20", {32, 32, 3}, 10).parameter_count(), expected(3));
  EXPECT_EQ(layout_of("resnet32", {32, 32, 3}, 10).parameter_count(), expected(5));
  EXPECT_EQ(layout_of("resnet56", {32, 32, 3}, 10).parameter_count(), expected(9));
}

TEST(ResidualNetworks, LargeOnesHaveTorchvisionsParameters) {  // of its documentation
  EXPECT_EQ(layout_of("resnet18", {224, 224, 3}, 1000).parameter_count(), 11689512U);
  EXPECT_EQ(layout_of("resnet50", {224, 224, 3}, 1000).parameter_count(), 25557032U);
}

TEST(ResidualNetworks, TensorsAreNamedAsInTorchvision) {
  const std::vector<std::string> names = names_of(layout_of("resnet50", {32, 32, 3}, 10));
  EXPECT_EQ(names.size(), 267U);  // 161 parameters, 106 running statistics
  for (const char* name :
       {"conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight", "layer1.0.bn3.bias",
        "layer1.0.downsample.0.weight", "layer1.0.downsample.1.running_var",
        "layer3.5.conv2.weight", "layer4.2.bn3.weight", "fc.weight", "fc.bias"}) {
    EXPECT_THAT(names, Contains(name));
  }
  EXPECT_THAT(names, testing::Not(Contains("layer1.1.downsample.0.weight")));
  EXPECT_THAT(names_of(layout_of("resnet18", {32, 32, 3}, 10)),
              testing::Not(Contains("layer1.0.downsample.0.weight")));
}

// One sample of 2x2 pixels at the entrance of the second stage: BatchNorm refuses the single pixel
// that the stride leaves, behind the convolution that takes it.
TEST(ResidualNetworks, StrideIsTakenByTheFirst3x3Convolution) {
  const auto refusal = [](const std::string& spec, InputShape shape) {
    ModelUnderTest test(spec, shape, 1, Backend::eigen);
    return refusal_of([&] { test.compute(); });
  };
  EXPECT_THAT(refusal("resnet20", {2, 2, 3}), StartsWith("layer layer2.0.bn1: BatchNorm needs"));
  EXPECT_THAT(refusal("resnet50", {8, 8, 3}), StartsWith("layer layer2.0.bn2: BatchNorm needs"));
}

TEST(ResidualNetworks, ImagesOfOneChannelAndOddSizesFit) {
  for (const char* spec : {"resnet20", "resnet32", "resnet56", "resnet18", "resnet50"}) {
    SCOPED_TRACE(spec);
    ModelUnderTest test(spec, {9, 7, 1}, 3, backend("auto"));
    EXPECT_GT(test.compute().loss_sum, 0.0);
  }
}

// A ReLU that rounding decides moves the gradient by some per cent: so do inputs that differ in
// their last bit, on one backend. So the closest of three counts.
void expect_backends_to_agree(const std::string& spec, InputShape image, std::size_t samples) {
  SCOPED_TRACE(spec);
  ModelUnderTest test(spec, image, samples, backend("auto"));
  ModelUnderTest eigen(spec, image, samples, Backend::eigen);
  const std::size_t parameters = test.layout().parameter_elements();
  double closest = 1;
  for (const std::uint32_t seed : {7U, 8U, 9U}) {
    fill_random(test.inputs(), seed);
    fill_random(eigen.inputs(), seed);
    const double loss = test.compute().loss_sum;
    EXPECT_NEAR(eigen.compute().loss_sum, loss, 1e-4 * loss);
    closest = std::min(
        closest, distance(eigen.gradient().first(parameters), test.gradient().first(parameters)));
  }
  EXPECT_LT(closest, 5e-2);
}

TEST(ResidualNetworks, BackendsAgreeOnLargeOnes) {
  for (const char* spec : {"resnet18", "resnet50"}) expect_backends_to_agree(spec, {64, 48, 3}, 6);
}

// With three samples the last stage of resnet20 is too small for Winograd's algorithm; that of
// resnet32, of 9x7 pixels, has no blocks of channels, unlike the one before.
TEST(ResidualNetworks, BackendsAgreeOnSmallOnes) {
  for (const std::size_t samples : {3U, 5U}) {
    expect_backends_to_agree("resnet20", {32, 32, 3}, samples);
    expect_backends_to_agree("resnet32", {36, 28, 1}, samples);
  }
}

}  // namespace
}  // namespace rubato::nn
