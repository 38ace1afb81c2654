#include "nn/batch_norm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/nn/blocks_of_channels.hpp"
#include "tests/nn/layer_under_test.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

LayerUnderTest batch_norm(Shape shape, std::size_t samples, Ending ending = Ending::none) {
  return {std::make_unique<BatchNorm>("bn", shape, ending), samples};
}

// Channel c holds c + 0, c + 2, c + 4, ...: mean c + n - 1, biased variance (n^2 - 1) / 3.
void fill_stairs(std::span<float> input, std::size_t channels) {
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<float>(i % channels + 2 * (i / channels));
  }
}

TEST(BatchNorm, ReportsMeanAndUnbiasedVarianceOfTheMinibatch) {
  for (const std::size_t channels : {1U, 8U, 10U, 20U}) {
    constexpr std::size_t count = 3 * 2 * 4;
    LayerUnderTest test = batch_norm({3, 2, channels}, 4);
    fill_stairs(test.input(), channels);
    test.forward();
    test.backward();
    for (std::size_t c = 0; c < channels; ++c) {
      EXPECT_FLOAT_EQ(test.gradient(2)[c], static_cast<float>(c + count - 1));
      EXPECT_FLOAT_EQ(test.gradient(3)[c], (count * count - 1.0F) / 3 * count / (count - 1.0F));
    }
  }
}

TEST(BatchNorm, NormalisesByTheBiasedVariance) {
  LayerUnderTest test = batch_norm({1, 1, 10}, 4);
  fill_stairs(test.input(), 10);
  test.forward();
  const double deviation = std::sqrt(5.0 + 1e-5);  // of 0, 2, 4, 6
  for (std::size_t i = 0; i < 40; ++i) {
    const double normalised = (2.0 * static_cast<double>(i / 10) - 3.0) / deviation;
    const double expected = static_cast<double>(test.tensor(0)[i % 10]) * normalised +
                            static_cast<double>(test.tensor(1)[i % 10]);
    EXPECT_NEAR(static_cast<double>(test.output()[i]), expected, 1e-6);
  }
}

TEST(BatchNorm, GradientsAreTheDerivatives) {
  for (const Shape shape : {Shape{3, 3, 10}, Shape{1, 1, 3}, Shape{2, 2, 16}}) {
    LayerUnderTest test = batch_norm(shape, 5);
    test.expect_derivatives(2, 1e-2F, 1e-3);
  }
}

// What the plain layer computes, then the sum and ReLU by hand.
TEST(BatchNorm, AddsTheShortcutBeforeItsRelu) {
  for (const Shape shape : {Shape{3, 3, 10}, Shape{2, 2, 16}, Shape{4, 5, 64}}) {
    LayerUnderTest plain = batch_norm(shape, 5);
    LayerUnderTest joined = batch_norm(shape, 5, Ending::addend_and_relu);
    plain.forward();
    joined.use_addend();
    joined.forward();
    for (std::size_t i = 0; i < plain.output().size(); ++i) {
      ASSERT_EQ(joined.output()[i], std::max(0.0F, plain.output()[i] + joined.addend()[i]));
    }
    for (LayerUnderTest* test : {&plain, &joined}) {
      for (float& variance : test->tensor(3)) variance = 4.0F + variance;
    }
    plain.layer().evaluate({plain.input(), {}, plain.output(), {}});
    joined.layer().evaluate({joined.input(), joined.addend(), joined.output(), {}});
    for (std::size_t i = 0; i < plain.output().size(); ++i) {
      ASSERT_EQ(joined.output()[i], std::max(0.0F, plain.output()[i] + joined.addend()[i]));
    }
  }
}

// The gradients are the plain layer's for what ReLU lets through of the output's gradient (of two
// gradients, of their sum); the shortcut's own gradient is just that.
TEST(BatchNorm, GradientsStopWhereReluCutOff) {
  for (const Ending ending : {Ending::relu, Ending::addend_and_relu}) {
    for (const bool has_second : {false, true}) {
      const Shape shape{4, 3, 20};
      LayerUnderTest plain = batch_norm(shape, 5);
      LayerUnderTest test = batch_norm(shape, 5, ending);
      if (ending == Ending::addend_and_relu) test.use_addend();
      if (has_second) test.use_second_output_gradient();
      plain.forward();
      test.forward();
      for (std::size_t i = 0; i < plain.output().size(); ++i) {
        const float second = has_second ? test.second_output_gradient()[i] : 0.0F;
        plain.output_gradient()[i] =
            test.output()[i] > 0.0F ? test.output_gradient()[i] + second : 0.0F;
      }
      plain.backward();
      const std::span<const float> let_through = test.backward();
      for (std::size_t i = 0; i < plain.output().size(); ++i) {
        if (ending == Ending::addend_and_relu) {
          ASSERT_EQ(let_through[i], plain.output_gradient()[i]);
        }
        ASSERT_EQ(test.input_gradient()[i], plain.input_gradient()[i]);
      }
      for (std::size_t tensor = 0; tensor < 4; ++tensor) {
        EXPECT_EQ(distance(test.gradient(tensor), plain.gradient(tensor)), 0.0);
      }
    }
  }
}

// 5x7 pixels fill 17 rows of lanes and half of another one in blocks of 16, 8 rows and three
// quarters of one in blocks of 8; 9x8 a run of rows and a part of a second, and a part of a run.
void expect_the_same_normalised_in_blocks(Order order) {
  for (const Shape shape : {Shape{5, 7, 32}, Shape{9, 8, 48}, Shape{1, 1, 64}}) {
    for (const Ending ending : {Ending::none, Ending::relu, Ending::addend_and_relu}) {
      for (const bool has_second : {false, true}) {
        if (has_second && ending == Ending::none) continue;
        LayerUnderTest test = batch_norm(in_blocks(shape, order), 6, ending);
        LayerUnderTest twin = batch_norm(shape, 6, ending);
        for (LayerUnderTest* layer : {&test, &twin}) {
          if (ending == Ending::addend_and_relu) layer->use_addend();
          if (has_second) layer->use_second_output_gradient();
        }
        expect_same(test, twin, 2e-6);
        for (LayerUnderTest* layer : {&test, &twin}) {
          for (float& variance : layer->tensor(3)) variance = 4.0F + variance;
          layer->layer().evaluate({layer->input(), layer->addend(), layer->output(), {}});
        }
        EXPECT_EQ(side_by_side(in_blocks(shape, order), test.output()),
                  side_by_side(shape, twin.output()));
      }
    }
  }
}

TEST(BatchNorm, DoesTheSameInBlocksOfChannels) {
  for (const Order order : orders_in_blocks) expect_the_same_normalised_in_blocks(order);
}

TEST(BatchNorm, WorksInPlace) {
  for (const bool has_second : {false, true}) {
    LayerUnderTest test = batch_norm({3, 3, 24}, 4, Ending::relu);
    ASSERT_TRUE(test.layer().abilities().works_in_place);
    if (has_second) test.use_second_output_gradient();
    test.forward();
    test.backward();
    const std::vector<std::span<float>> gradients = {test.gradient(0), test.gradient(1),
                                                     test.gradient(2), test.gradient(3)};
    test.layer().backward({test.input(), test.output(), test.output_gradient(),
                           test.second_output_gradient(), test.output_gradient(), gradients});
    EXPECT_EQ(distance(test.output_gradient(), test.input_gradient()), 0.0);
  }
  const BatchNorm joining("bn", {3, 3, 24}, Ending::addend_and_relu);
  EXPECT_FALSE(joining.abilities().works_in_place);
}

TEST(BatchNorm, EvaluationUsesTheRunningStatistics) {
  LayerUnderTest test = batch_norm({1, 2, 3}, 2);
  for (float& variance : test.tensor(3)) variance = 4.0F + variance;
  test.forward();  // leaves the minibatch's statistics behind
  test.layer().evaluate({test.input(), {}, test.output(), {}});
  for (std::size_t i = 0; i < 12; ++i) {
    const auto of = [&](std::size_t tensor) {
      return static_cast<double>(test.tensor(tensor)[i % 3]);
    };
    const double expected =
        (static_cast<double>(test.input()[i]) - of(2)) / std::sqrt(of(3) + 1e-5) * of(0) + of(1);
    EXPECT_NEAR(static_cast<double>(test.output()[i]), expected, 1e-6);
  }
}

TEST(BatchNorm, KeepsItsPrecisionFarFromZero) {
  LayerUnderTest test = batch_norm({8, 8, 2}, 8);
  for (std::size_t i = 0; i < test.input().size(); ++i) {
    test.input()[i] = 1000.0F + static_cast<float>(i / 2 % 2);  // mean 1000.5, variance 1/4
  }
  test.forward();
  test.backward();
  EXPECT_NEAR(test.gradient(2)[0], 1000.5F, 1e-4F);
  EXPECT_NEAR(test.gradient(3)[1], 0.25F * 512 / 511, 1e-6F);
}

TEST(BatchNorm, RefusesASingleValuePerChannel) {
  LayerUnderTest test = batch_norm({1, 1, 3}, 1);
  EXPECT_THAT(refusal_of([&] { test.forward(); }),
              testing::HasSubstr("layer bn: BatchNorm needs more than one value per channel"));
}

TEST(BatchNorm, HasPyTorchsTensorsAndInitialValues) {
  const std::vector<TensorSpec> tensors = BatchNorm("bn1", {2, 2, 10}).tensors();
  ASSERT_EQ(tensors.size(), 4U);
  const std::vector<std::string> names = {"bn1.weight", "bn1.bias", "bn1.running_mean",
                                          "bn1.running_var"};
  const std::vector<double> values = {1, 0, 0, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(tensors[i].name, names[i]);
    EXPECT_EQ(tensors[i].lower, values[i]);
    EXPECT_EQ(tensors[i].upper, values[i]);
    EXPECT_EQ(tensors[i].is_parameter, i < 2);
    EXPECT_EQ(tensors[i].momentum, i < 2 ? 0.0 : 0.1);
  }
}

}  // namespace
}  // namespace rubato::nn
