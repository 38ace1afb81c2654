#include "tests/nn/convolution_by_definition.hpp"

namespace rubato::nn {
namespace {

INSTANTIATE_TEST_SUITE_P(Onednn, ConvolutionKernels, testing::Values(make_onednn_convolution));

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

}  // namespace
}  // namespace rubato::nn
