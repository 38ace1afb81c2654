#include "nn/dropout.hpp"

#include <gtest/gtest.h>

#include <Random123/philox.h>

#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {
namespace {

constexpr Shape shape{1, 1, 2049};

std::vector<float> mask(const MinibatchKey& key, std::uint32_t layer_number = 3,
                        double probability = 0.25, std::size_t samples = 4) {
  Dropout layer(shape, probability, layer_number);
  const std::vector<float> ones(samples * shape.elements(), 1.0F);
  std::vector<float> output(ones.size());
  layer.forward({ones, {}, output, key});
  return output;
}

TEST(Dropout, DropsAtItsRateAndKeepsTheMean) {
  for (const double probability : {0.25, 0.5, 0.9}) {
    const std::vector<float> values = mask(test_key, 3, probability, 50);
    const auto count = static_cast<double>(values.size());
    const auto dropped = static_cast<double>(std::count(values.begin(), values.end(), 0.0F));
    EXPECT_NEAR(dropped / count, probability,
                5 * std::sqrt(probability * (1 - probability) / count));
    for (const float value : values) {
      const auto scale = static_cast<float>(1 / (1 - probability));
      ASSERT_TRUE(value == 0.0F || value == scale) << value;
    }
  }
}

TEST(Dropout, KeepsTheElementsThatRandom123Says) {
  const std::vector<float> values = mask(test_key);
  const r123::Philox4x32 generator;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const auto words = generator({{i / 4, 3, 5, 3}}, {{42, 0}});  // layer, minibatch, epoch; seed
    EXPECT_EQ(values[i] != 0.0F, words[i % 4] >= 0x40000000U) << i;
  }
}

TEST(Dropout, DependsOnEachPartOfTheKeyAndOnNothingElse) {
  const std::vector<float> base = mask({1, 2, 3});
  EXPECT_EQ(base, mask({1, 2, 3}));
  EXPECT_NE(base, mask({2, 2, 3}));
  EXPECT_NE(base, mask({1, 3, 3}));
  EXPECT_NE(base, mask({1, 2, 4}));
  EXPECT_NE(base, mask({1, 2, 3}, 4));
  const std::vector<float> shorter =
      mask({1, 2, 3}, 3, 0.25, 2);  // a short minibatch: the same start
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), base.begin()));
}

TEST(Dropout, GradientsAreTheDerivatives) {
  LayerUnderTest test(std::make_unique<Dropout>(Shape{2, 3, 5}, 0.5, 1U), 3);
  test.expect_derivatives(0, 0.5F, 1e-5);
}

TEST(Dropout, EvaluationPassesEverything) {
  LayerUnderTest test(std::make_unique<Dropout>(Shape{2, 3, 5}, 0.5, 1U), 3);
  test.layer().evaluate({test.input(), {}, test.output(), {}});
  EXPECT_TRUE(std::equal(test.input().begin(), test.input().end(), test.output().begin()));
}

}  // namespace
}  // namespace rubato::nn
