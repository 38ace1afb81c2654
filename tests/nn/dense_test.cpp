#include "nn/dense.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "nn/dense_products.hpp"
#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {
namespace {

std::unique_ptr<Layer> dense(const std::string& backend_name, Activation activation) {
  return std::make_unique<Dense>("fc", Shape{1, 1, 6}, 5, activation, backend(backend_name));
}

TEST(Dense, OutputIsInputTimesTransposedWeightPlusBias) {
  for (const std::string& name : backend_names()) {
    LayerUnderTest test(dense(name, Activation::none), 4);
    test.forward();
    for (std::size_t sample = 0; sample < 4; ++sample) {
      for (std::size_t out = 0; out < 5; ++out) {
        double expected = static_cast<double>(test.tensor(1)[out]);
        for (std::size_t in = 0; in < 6; ++in) {
          expected += static_cast<double>(test.tensor(0)[out * 6 + in]) *
                      static_cast<double>(test.input()[sample * 6 + in]);
        }
        EXPECT_NEAR(static_cast<double>(test.output()[sample * 5 + out]), expected, 1e-6) << name;
      }
    }
  }
}

TEST(Dense, GradientsAreTheDerivatives) {
  for (const std::string& name : backend_names()) {
    SCOPED_TRACE(name);
    LayerUnderTest linear(dense(name, Activation::none), 4);
    linear.expect_derivatives(2, 0.5F, 1e-5);  // linear: any step is exact
    LayerUnderTest with_relu(dense(name, Activation::relu), 4);
    with_relu.expect_derivatives(2, 1e-3F, 1e-3);
  }
}

TEST(Dense, TellsThatItsTensorsAreFinalBeforeItGoesOn) {
  for (const std::string& name : backend_names()) {
    SCOPED_TRACE(name);
    LayerUnderTest(dense(name, Activation::relu), 4).expect_to_tell_that_tensors_are_final();
  }
}

TEST(Dense, MakesItsWeightsGradientOfTheFactorsThatItTells) {
  for (const std::string& name : backend_names()) {
    SCOPED_TRACE(name);
    LayerUnderTest test(dense(name, Activation::relu), 4);
    test.forward();
    AlignedBuffer<float> changing, again;
    const std::span<float> output_gradient = changing.first(test.output_gradient().size());
    std::ranges::copy(test.output_gradient(), output_gradient.begin());
    std::vector<float> told;
    const std::array<std::span<float>, 2> gradients = {test.gradient(0), test.gradient(1)};
    test.layer().backward({.input = test.input(),
                           .output = test.output(),
                           .output_gradient = output_gradient,
                           .second_output_gradient = {},
                           .input_gradient = test.input_gradient(),
                           .tensor_gradients = gradients,
                           .factors_are_final = [&] {
                             EXPECT_TRUE(told.empty());
                             told.assign(output_gradient.begin(), output_gradient.end());
                           }});
    ASSERT_EQ(told.size(), output_gradient.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      EXPECT_EQ(told[i], test.output()[i] > 0 ? test.output_gradient()[i] : 0.0F);
    }
    test.layer().multiply_factors(output_gradient, test.input(), again.first(5 * 6));
    EXPECT_TRUE(std::ranges::equal(again.first(5 * 6), test.gradient(0)));
  }
}

// Whether the layer's three products have the bits of our own.
bool takes_own_products(Backend backend) {
  const DenseSizes sizes{.samples = 32, .inputs = 300, .outputs = 32};
  LayerUnderTest test(std::make_unique<Dense>("fc", Shape{1, 1, sizes.inputs}, sizes.outputs,
                                              Activation::none, backend),
                      sizes.samples);
  test.forward();
  test.backward();
  AlignedBuffer<float> memory, result;
  const std::span<float> scratch = memory.first(dense_products_scratch_floats(sizes));
  const std::span<float> output = result.first(test.output().size());
  dense_output(sizes, test.input(), test.tensor(0), scratch, output);
  for (std::size_t i = 0; i < output.size(); ++i) output[i] += test.tensor(1)[i % sizes.outputs];
  bool all = std::ranges::equal(output, test.output());
  const std::span<float> input_gradient = result.first(test.input().size());
  dense_input_gradient(sizes, test.output_gradient(), test.tensor(0), scratch, input_gradient);
  all = all && std::ranges::equal(input_gradient, test.input_gradient());
  const std::span<float> gradient = result.first(test.tensor(0).size());
  dense_weight_gradient(sizes, test.output_gradient(), test.input(), scratch, gradient);
  return all && std::ranges::equal(gradient, test.gradient(0));
}

TEST(Dense, TakesOurOwnProductsWithAvx2Alone) {
  const Kernels used = kernels(Backend::onednn);
  if (used.backend != "onednn" || used.isa != "avx2" || !has_dense_products({32, 300, 32})) {
    return;  // nn_test.with_avx2_alone has it on every processor with AVX2
  }
  EXPECT_TRUE(takes_own_products(Backend::onednn));
  EXPECT_FALSE(takes_own_products(Backend::onednn_direct));  // their sums have another order
}

TEST(Dense, ReluClearsHalfOfThisOutput) {
  LayerUnderTest test(dense("auto", Activation::relu), 4);
  test.forward();
  EXPECT_GT(std::count(test.output().begin(), test.output().end(), 0.0F), 3);
  for (const float value : test.output()) EXPECT_GE(value, 0.0F);
}

TEST(Dense, HasPyTorchsTensorsAndBounds) {
  const std::vector<TensorSpec> tensors = dense("auto", Activation::none)->tensors();
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "fc.weight");
  EXPECT_EQ(tensors[0].shape, (std::vector<std::size_t>{5, 6}));
  EXPECT_EQ(tensors[1].name, "fc.bias");
  EXPECT_NEAR(tensors[0].upper, 0.408248290, 1e-9);  // 1/sqrt(6)
  EXPECT_EQ(tensors[1].lower, -tensors[0].upper);
}

}  // namespace
}  // namespace rubato::nn
