#include <gtest/gtest.h>

#include "nn/convolution.hpp"
#include "tests/nn/convolution_by_definition.hpp"

namespace rubato::nn {
namespace {

TEST(OnednnConvolution, EqualsItsDefinition) {
  for (const ConvolutionGeometry& geometry : test_convolutions()) {
    for (const std::size_t samples : {1U, 4U}) {
      LayerUnderTest test(make_onednn_convolution(geometry), samples);
      test.forward();
      EXPECT_LT(distance(test.output(), convolution_by_definition(geometry, test)), 1e-6)
          << geometry.kernel << "x" << geometry.kernel << ", " << samples << " samples";
    }
  }
}

TEST(OnednnConvolution, GradientsAreTheDerivatives) {
  for (ConvolutionGeometry geometry : test_convolutions()) {
    SCOPED_TRACE(geometry.kernel);
    geometry.activation = Activation::none;
    LayerUnderTest test(make_onednn_convolution(geometry), 3);
    // Linear: any step is exact.
    test.expect_derivatives(geometry.has_bias ? 2 : 1, 0.5F, 2e-5);
  }
}

TEST(OnednnConvolution, GradientStopsWhereReluCutOff) {
  const ConvolutionGeometry geometry{"conv", {4, 4, 2}, 3, 2, Activation::relu};
  LayerUnderTest test(make_onednn_convolution(geometry), 2);
  test.expect_derivatives(2, 2e-4F, 5e-3);
}

TEST(OnednnConvolution, UsesNewParameters) {
  const ConvolutionGeometry geometry = test_convolutions().front();
  LayerUnderTest test(make_onednn_convolution(geometry), 2);
  test.forward();
  fill_random(test.tensor(0), 77);
  fill_random(test.tensor(1), 78);
  test.forward();
  EXPECT_LT(distance(test.output(), convolution_by_definition(geometry, test)), 1e-6);
}

TEST(OnednnConvolution, ComputesAtMoreSizesThanItKeeps) {
  const ConvolutionGeometry geometry = test_convolutions().front();
  LayerUnderTest test(make_onednn_convolution(geometry), 20);
  test.forward();
  const std::vector<float> whole(test.output().begin(), test.output().end());
  for (std::size_t round = 0; round < 2; ++round) {
    for (std::size_t samples = 1; samples <= 20; ++samples) {
      std::fill(test.output().begin(), test.output().end(), 1e30F);
      const std::span<float> output = test.output().first(samples * geometry.output().elements());
      test.layer().forward(
          {test.input().first(samples * geometry.input.elements()), {}, output, {}});
      EXPECT_LT(distance(output, std::span(whole).first(output.size())), 1e-6) << samples;
    }
  }
}

TEST(OnednnConvolution, NeedsNoInputGradient) {
  LayerUnderTest test(make_onednn_convolution(test_convolutions().front()), 2);
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
