#include "nn/compute_thread.hpp"
#include "nn/convolution_descriptions.hpp"
#include "tests/nn/blocks_of_channels.hpp"
#include "tests/nn/convolution_by_definition.hpp"
#include "tests/nn/winograd_here.hpp"

namespace rubato::nn {
namespace {

INSTANTIATE_TEST_SUITE_P(Onednn, ConvolutionKernels,
                         testing::Values(Backend::onednn, Backend::onednn_direct));

TEST(OnednnConvolution, ComputesAtMoreSizesThanItKeeps) {
  const ConvolutionGeometry geometry = test_convolutions().front();
  LayerUnderTest test(make_convolution(geometry, Backend::onednn), 20);
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

TEST(OnednnConvolution, TellsThatItsTensorsAreFinalBeforeItGoesOn) {
  for (const ConvolutionGeometry& geometry : test_convolutions()) {
    SCOPED_TRACE(geometry.name);
    LayerUnderTest(make_convolution(geometry, Backend::onednn), 3)
        .expect_to_tell_that_tensors_are_final();
  }
}

// Too large to be differentiated step by step; Eigen's twin is, in small. The last one has enough
// tiles for the order of steps that whole models take. All threads would take another. Where ReLU
// cuts off is decided by the last bit of some sums, so that only its outputs can be compared.
TEST(OnednnConvolution, EqualsItsTwinWhereWinogradPays) {
  hold_to_one_thread();
  for (const Activation activation : {Activation::none, Activation::relu}) {
    const ConvolutionGeometry geometries[] = {
        {"conv", {12, 8, 32}, 48, 3, activation, 1, 1},
        {"conv", {12, 8, 48}, 32, 3, activation, 1, 1, /*has_bias=*/false},
        {"conv", {13, 10, 64}, 32, 3, activation, 1, 0, /*has_bias=*/false},
        {"conv", {9, 14, 32}, 64, 3, activation, 1, 0},
        {"conv", {26, 26, 32}, 64, 3, activation, 1, 0}};
    for (const ConvolutionGeometry& geometry : geometries) {
      const std::size_t samples = geometry.input.height == 26 ? 16 : 5;
      SCOPED_TRACE(geometry.input.height);
      ASSERT_TRUE(winograd_pays(geometry, samples));
      LayerUnderTest test(make_convolution(geometry, Backend::onednn), samples);
      LayerUnderTest twin(make_convolution(geometry, Backend::eigen), samples);
      test.forward();
      twin.forward();
      EXPECT_LT(distance(test.output(), twin.output()), 2e-6);
      if (activation == Activation::relu) continue;
      test.backward();
      twin.backward();
      EXPECT_LT(distance(test.input_gradient(), twin.input_gradient()), 2e-6);
      for (std::size_t i = 0; i < (geometry.has_bias ? 2U : 1U); ++i) {
        EXPECT_LT(distance(test.gradient(i), twin.gradient(i)), 2e-6) << i;
      }
    }
  }
}

// By direct kernels and Winograd's, with copies and without: the image and 20 channels cannot come
// in blocks, as many channels as a block has lie the same in both orders.
void expect_the_same_in_blocks(Order blocks) {
  const Order last = Order::channels_last;
  const std::size_t block = Shape{.order = blocks}.adjacent_channels();
  const ConvolutionGeometry geometries[] = {
      {"conv", {8, 8, 32, blocks}, 48, 3, Activation::none, 1, 1, /*has_bias=*/true, blocks},
      {"conv", {9, 7, 32, blocks}, 64, 3, Activation::none, 2, 1, /*has_bias=*/false, blocks},
      {"conv", {9, 7, 32, blocks}, 64, 1, Activation::none, 2, 0, /*has_bias=*/false, blocks},
      {"conv", {9, 7, block, last}, 32, 3, Activation::none, 2, 1, /*has_bias=*/true, blocks},
      {"conv", {9, 7, 3, last}, 32, 3, Activation::none, 1, 1, /*has_bias=*/true, blocks},
      {"conv", {8, 8, 32, last}, 32, 3, Activation::none, 1, 1, /*has_bias=*/false, blocks},
      {"conv", {8, 8, 32, blocks}, 32, 3, Activation::none, 1, 1, /*has_bias=*/true, last},
      {"conv", {8, 8, 32, blocks}, 20, 3, Activation::none, 1, 1, /*has_bias=*/true, last}};
  for (const Backend backend : {Backend::onednn, Backend::onednn_direct}) {
    for (const ConvolutionGeometry& geometry : geometries) {
      for (const std::size_t samples : {3U, 5U}) {
        SCOPED_TRACE(&geometry - geometries);
        ConvolutionGeometry twins = geometry;
        twins.input.order = twins.output_order = last;
        LayerUnderTest test(make_convolution(geometry, backend), samples);
        LayerUnderTest twin(make_convolution(twins, Backend::onednn_direct), samples);
        EXPECT_EQ(test.layer().output_shape().order, geometry.output_order);
        expect_same(test, twin, 2e-6);
      }
    }
  }
}

TEST(OnednnConvolution, DoesTheSameInBlocksOfChannels) {
  hold_to_one_thread();
  for (const Order order : orders_in_blocks) expect_the_same_in_blocks(order);
}

// Each kind of kernels wants the weights in an order of its own, at least backwards.
TEST(OnednnConvolution, ComputesInTurnWithAndWithoutWinograd) {
  const ConvolutionGeometry geometry{"conv", {8, 8, 32}, 32, 3, Activation::none, 1, 1};
  const std::size_t few = 3;
  LayerUnderTest test(make_convolution(geometry, Backend::onednn), 8);
  ASSERT_TRUE(winograd_pays(geometry, 8));
  ASSERT_FALSE(winograd_pays(geometry, few));
  for (unsigned seed = 1; seed < 4; ++seed) {
    fill_random(test.tensor(0), seed);
    test.forward();
    const std::vector<float> expected = convolution_by_definition(geometry, test);
    EXPECT_LT(distance(test.output(), expected), 2e-6);
    test.backward();
    const std::span<const float> gradient =
        test.input_gradient().first(few * geometry.input.elements());
    const std::vector<float> expected_gradient(gradient.begin(), gradient.end());
    const std::span<float> output = test.output().first(few * geometry.output().elements());
    std::fill(output.begin(), output.end(), 1e30F);
    test.layer().forward({test.input().first(few * geometry.input.elements()), {}, output, {}});
    EXPECT_LT(distance(output, std::span(expected).first(output.size())), 2e-6);
    std::vector<float> input_gradient(gradient.size(), 1e30F);
    std::vector<float> weight_gradient(test.tensor(0).size());
    std::vector<float> bias_gradient(test.tensor(1).size());
    const std::vector<std::span<float>> gradients = {weight_gradient, bias_gradient};
    test.layer().backward({test.input().first(few * geometry.input.elements()),
                           output,
                           test.output_gradient().first(output.size()),
                           {},
                           input_gradient,
                           gradients});
    EXPECT_LT(distance(input_gradient, expected_gradient), 2e-6);
  }
}

TEST(OnednnConvolution, IsAnotherOneByEachBackend) {
  const ConvolutionGeometry geometry{"conv", {8, 8, 32}, 32, 3, Activation::none, 1, 1};
  const auto output_by = [&](Backend backend) {
    LayerUnderTest test(make_convolution(geometry, backend), 8);
    test.forward();
    return std::vector<float>(test.output().begin(), test.output().end());
  };
  const std::vector<float> direct = output_by(Backend::onednn_direct);
  EXPECT_EQ(output_by(Backend::onednn) != direct, has_winograd_here());
  EXPECT_NE(output_by(Backend::eigen), direct);
}

// The more exact one by its errors: no other test could tell them apart.
TEST(OnednnConvolution, IsMoreExactWithoutWinograd) {
  const ConvolutionGeometry geometry{"conv", {8, 8, 64}, 64, 3, Activation::none, 1, 1};
  LayerUnderTest test(make_convolution(geometry, Backend::onednn), 4);
  LayerUnderTest direct(make_convolution(geometry, Backend::onednn_direct), 4);
  test.forward();
  direct.forward();
  const std::vector<float> expected = convolution_by_definition(geometry, direct);
  const double error = distance(direct.output(), expected);
  EXPECT_LT(error, 7e-7);
  EXPECT_EQ(distance(test.output(), expected) > 1.5 * error, has_winograd_here());
}

}  // namespace
}  // namespace rubato::nn
