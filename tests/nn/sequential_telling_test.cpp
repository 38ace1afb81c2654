// What a chain of layers tells of a gradient while it computes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/nn/model_under_test.hpp"

namespace rubato::nn {
namespace {

// And is written over by who is told.
TEST(SequentialTelling, IsOfWhatIsFinal) {
  for_each_model([](const ModelCase& c, Backend backend) {
    ModelUnderTest test(c.spec, c.shape, 6, backend);
    test.compute();
    const std::vector<float> whole = copy_of(test.gradient());
    std::ranges::fill(test.gradient(), 3e30F);
    constexpr float taken = 2e30F;
    std::size_t from = test.layout().total_elements();
    std::size_t falls = 0;
    const auto is_final_from = [&](std::size_t offset) {
      ASSERT_LE(offset, from);
      const std::span<float> final = test.gradient().subspan(offset, from - offset);
      EXPECT_TRUE(has_equal_bits(final, std::span(whole).subspan(offset, final.size())));
      std::ranges::fill(final, taken);
      falls += offset < from ? 1U : 0U;
      from = offset;
    };
    test.model().gradient({test.inputs(), test.labels(), test_key, is_final_from}, test.gradient());
    EXPECT_EQ(from, 0U);
    EXPECT_GE(falls, test.layout().tensors().size() < 3 ? 1U : 2U);
    EXPECT_EQ(std::ranges::count(test.gradient(), taken), std::ssize(whole));
  });
}

// After each layer, and within those that have an input gradient to go on with.
TEST(SequentialTelling, IsBeforeALayerGoesOnWithItsInputGradient) {
  ModelUnderTest test("mlp:5,3", {1, 7, 1}, 3, backend("auto"));
  test.compute();
  std::vector<std::size_t> told;
  test.model().gradient(
      {test.inputs(), test.labels(), test_key, [&](std::size_t offset) { told.push_back(offset); }},
      test.gradient());
  const auto begin_of = [&](std::size_t tensor) { return test.layout().tensors()[tensor].offset; };
  const std::size_t third = begin_of(4);
  const std::size_t second = begin_of(2);
  EXPECT_EQ(told, (std::vector<std::size_t>{third, third, second, second, begin_of(0)}));
}

// Of each dense layer once, the last one's first; of what is told, and of no more, its weight's
// gradient can be made again.
TEST(SequentialTelling, IsOfTheFactorsOfDenseLayers) {
  for_each_model([](const ModelCase& c, Backend backend) {
    ModelUnderTest test(c.spec, c.shape, 6, backend);
    test.compute();
    std::vector<std::size_t> told;
    std::vector<std::vector<float>> made;
    const auto take_factors = [&](const Factors& factors) {
      const TensorInfo& weight = test.layout().tensors()[factors.tensor];
      ASSERT_EQ(factors.output_gradients.size(), 6 * weight.shape[0]);
      ASSERT_EQ(factors.inputs.size(), 6 * weight.shape[1]);
      AlignedBuffer<float> gradient;
      test.model().multiply_factors(factors, gradient.first(weight.size));
      told.push_back(factors.tensor);
      made.push_back(copy_of(gradient.first(weight.size)));
    };
    test.model().gradient({test.inputs(), test.labels(), test_key, {}, take_factors},
                          test.gradient());
    EXPECT_FALSE(told.empty());
    for (std::size_t i = 0; i < told.size(); ++i) {
      const TensorInfo& weight = test.layout().tensors()[told[i]];
      EXPECT_EQ(weight.shape.size(), 2U);
      EXPECT_TRUE(has_equal_bits(made[i], test.gradient_of(weight))) << weight.name;
    }
    std::ranges::reverse(told);
    EXPECT_EQ(told, test.model().factored_tensors());
  });
}

TEST(SequentialTelling, RefusesToMultiplyForAnotherTensor) {
  ModelUnderTest test("mnist", {28, 28, 1}, 2, backend("auto"));
  std::vector<float> any(64);
  EXPECT_THROW(test.model().multiply_factors({0, any, any}, any), std::invalid_argument)
      << "a convolution's weight";
}

}  // namespace
}  // namespace rubato::nn
