#include "nn/weight_gradient_3x3.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "tests/nn/blocks_of_channels.hpp"

namespace rubato::nn {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

ConvolutionGeometry convolution(Shape input, std::size_t outputs, std::size_t stride,
                                std::size_t padding, Order output_order) {
  return {.name = "conv",
          .input = input,
          .outputs = outputs,
          .kernel = 3,
          .stride = stride,
          .padding = padding,
          .output_order = output_order};
}

// Whole numbers from -3 to 3: floats hold all sums of their products here exactly.
std::vector<float> whole_numbers(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(generator() % 7) - 3.0F;
  return values;
}

// Of values with all channels side by side: one weight's products, one after another.
float by_definition(const ConvolutionGeometry& g, const std::vector<float>& input,
                    const std::vector<float>& output_gradient, std::size_t o, std::size_t i,
                    std::size_t ky, std::size_t kx) {
  const Shape out = g.output();
  float sum = 0;
  for (std::size_t pixel = 0; pixel < output_gradient.size() / out.channels; ++pixel) {
    const std::size_t sample = pixel / out.pixels();
    const std::size_t y = pixel % out.pixels() / out.width * g.stride + ky;
    const std::size_t x = pixel % out.width * g.stride + kx;
    if (y < g.padding || y >= g.input.height + g.padding) continue;
    if (x < g.padding || x >= g.input.width + g.padding) continue;
    const std::size_t row = sample * g.input.height + y - g.padding;
    sum += output_gradient[pixel * out.channels + o] *
           input[(row * g.input.width + x - g.padding) * g.input.channels + i];
  }
  return sum;
}

void expect_sums_of_products(const ConvolutionGeometry& g, std::size_t samples) {
  const Shape out = g.output();
  const std::vector<float> input = whole_numbers(samples * g.input.elements(), 1);
  const std::vector<float> output_gradient = whole_numbers(samples * out.elements(), 2);
  std::vector<float> ordered_input(input.size()), ordered_gradient(output_gradient.size());
  put_in_order(g.input, input, ordered_input);
  put_in_order(out, output_gradient, ordered_gradient);
  std::vector<float> scratch(weight_gradient_3x3_scratch_floats(g), not_a_number);
  std::vector<float> gradient(g.outputs * g.patch_elements(), not_a_number);
  weight_gradient_3x3(g, ordered_input, ordered_gradient, scratch, gradient);
  const std::size_t input_blocks = g.input.channels / 8;
  for (std::size_t o = 0; o < g.outputs; ++o) {
    for (std::size_t i = 0; i < g.input.channels; ++i) {
      for (std::size_t k = 0; k < 9; ++k) {
        const std::size_t block = (o / 8 * input_blocks + i / 8) * 9 + k;
        ASSERT_EQ(gradient[(block * 8 + i % 8) * 8 + o % 8],
                  by_definition(g, input, output_gradient, o, i, k / 3, k % 3))
            << "output " << o << " input " << i << " weight " << k;
      }
    }
  }
}

TEST(WeightGradient3x3, IsTheSumOfProducts) {
  for (const Order in : {Order::channels_last, Order::blocks_of_8, Order::blocks_of_16}) {
    for (const Order out : {Order::channels_last, Order::blocks_of_8, Order::blocks_of_16}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(in)) + " to " +
                   std::to_string(static_cast<int>(out)));
      expect_sums_of_products(convolution({7, 5, 16, in}, 32, 1, 1, out), 3);
    }
  }
}

TEST(WeightGradient3x3, TakesStridesBordersAndImagesOfAnySize) {
  const Order blocks = Order::blocks_of_8;
  for (const ConvolutionGeometry& geometry :
       {convolution({21, 30, 8, blocks}, 16, 1, 0, blocks),  // 19 rows, nine of them at once
        convolution({3, 300, 8}, 16, 1, 0, blocks),          // a row is more than is done at once
        convolution({45, 63, 8, blocks}, 16, 2, 1, blocks),  // 23 rows, eight of them at once
        convolution({9, 8, 8, blocks}, 16, 2, 1, Order::channels_last),
        convolution({8, 9, 24}, 48, 3, 2, blocks), convolution({1, 1, 8}, 16, 1, 1, blocks),
        convolution({2, 8, 8, blocks}, 16, 1, 1, blocks)}) {
    SCOPED_TRACE(std::to_string(geometry.input.height) + "x" +
                 std::to_string(geometry.input.width));
    expect_sums_of_products(geometry, 2);
  }
}

TEST(WeightGradient3x3, IsForWholeBlocksOfNotTooManyChannels) {
#ifdef __FMA__
  const bool is_built = true;
#else
  const bool is_built = false;
#endif
  const auto has_it = [](std::size_t inputs, std::size_t outputs, std::size_t kernel) {
    ConvolutionGeometry geometry = convolution({9, 9, inputs}, outputs, 1, 1, Order::channels_last);
    geometry.kernel = kernel;
    return has_weight_gradient_3x3(geometry);
  };
  EXPECT_EQ(has_it(8, 16, 3), is_built);
  EXPECT_EQ(has_it(64, 128, 3), is_built);
  EXPECT_FALSE(has_it(8, 24, 3));
  EXPECT_FALSE(has_it(12, 16, 3));
  EXPECT_FALSE(has_it(128, 128, 3));
  EXPECT_FALSE(has_it(16, 16, 5));
  EXPECT_FALSE(has_it(16, 16, 1));
}

}  // namespace
}  // namespace rubato::nn
