// The passes in vectors of either width against loops over single elements.
#include "nn/one_channel_passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "tests/nn/layer_under_test.hpp"
#include "tests/processor_flags.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t samples = 3;
constexpr float untouched = 1e30F;
#ifdef __FMA__
constexpr bool rounds_once = true;  // a product and its sum
#else
constexpr bool rounds_once = false;
#endif
constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  fill_random(values, seed);
  return values;
}

std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

// A layer's inputs and gradients, all random.
struct Values {
  explicit Values(const OneChannelShape& its_shape)
      : shape(its_shape),
        input(random_values(samples * inputs(), 1)),
        weights(random_values(kernel_pixels() * shape.padded_outputs(), 2)),
        bias(random_values(shape.padded_outputs(), 3)),
        output_gradient(random_values(samples * outputs(), 4)) {}

  std::size_t inputs() const { return shape.height * shape.width; }
  std::size_t outputs() const {
    return shape.output_height() * shape.output_width() * shape.outputs;
  }
  std::size_t kernel_pixels() const { return shape.kernel * shape.kernel; }

  // Of samples first, first + 1, ...
  std::vector<float> output(const OneChannelPasses& passes, float lowest, std::size_t first = 0,
                            std::size_t count = samples) const {
    std::vector<float> result(count * outputs() + 64, untouched);
    passes.forward(shape, count, input.data() + first * inputs(), weights.data(), bias.data(),
                   lowest, result.data());
    EXPECT_EQ(std::count(result.end() - 64, result.end(), untouched), 64);
    result.resize(count * outputs());
    return result;
  }

  // Without what lies in the padding.
  std::vector<float> gradient(const OneChannelPasses& passes, std::size_t first = 0,
                              std::size_t count = samples) const {
    std::vector<float> padded(weights.size() + 64, untouched);
    passes.weight_gradient(shape, count, input.data() + first * inputs(),
                           output_gradient.data() + first * outputs(), padded.data());
    EXPECT_EQ(std::count(padded.end() - 64, padded.end(), untouched), 64);
    std::vector<float> result;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (i % shape.padded_outputs() < shape.outputs) result.push_back(padded[i]);
    }
    return result;
  }

  std::vector<float> expected_output(float lowest) const {
    std::vector<float> result;
    for_each_output([&](const float* pixel, std::size_t channel) {
      float sum = bias[channel];
      for (std::size_t k = 0; k < kernel_pixels(); ++k) {
        add(pixel[place(k)], weights[k * shape.padded_outputs() + channel], sum);
      }
      result.push_back(sum <= lowest ? lowest : sum);
    });
    return result;
  }

  std::vector<float> expected_gradient() const {
    std::vector<float> result(kernel_pixels() * shape.outputs);
    std::vector<float> of_sample(result.size());
    std::size_t output = 0;
    for_each_output([&](const float* pixel, std::size_t channel) {
      for (std::size_t k = 0; k < kernel_pixels(); ++k) {
        add(pixel[place(k)], output_gradient[output], of_sample[k * shape.outputs + channel]);
      }
      if (++output % outputs() != 0) return;
      for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] += std::exchange(of_sample[i], 0.0F);
      }
    });
    return result;
  }

  // Calls visit(first input pixel under the kernel, channel) for each output, in their order.
  template <class Visit>
  void for_each_output(const Visit& visit) const {
    for (std::size_t i = 0; i < samples * outputs(); ++i) {
      const std::size_t pixel = i / shape.outputs;
      const std::size_t row = pixel / shape.output_width();
      const std::size_t sample = row / shape.output_height();
      const std::size_t y = sample * shape.height + row % shape.output_height();
      visit(input.data() + y * shape.width + pixel % shape.output_width(), i % shape.outputs);
    }
  }

  // Of the kernel's k-th pixel, from its first.
  std::size_t place(std::size_t k) const {
    return k / shape.kernel * shape.width + k % shape.kernel;
  }

  static void add(float a, float b, float& sum) {
    sum = rounds_once ? std::fma(a, b, sum) : sum + a * b;
  }

  OneChannelShape shape;
  std::vector<float> input, weights, bias, output_gradient;
};

std::vector<const OneChannelPasses*> passes_of_all_widths() {
  std::vector<const OneChannelPasses*> all = {one_channel_passes_of_build()};
  if (one_channel_passes_of_512_bits()) all.push_back(one_channel_passes_of_512_bits());
  return all;
}

TEST(OneChannelPasses, HaveTheBitsOfLoopsOverSingleElementsInAnyWidth) {
  for (const std::size_t kernel : {3U, 5U}) {
    for (const std::size_t outputs : {1U, 8U, 10U, 16U, 20U, 32U, 33U}) {
      // Rows shorter than what is computed at once, as long, and longer.
      for (const std::size_t output_width : {1U, 11U, 12U, 23U, 24U}) {
        const Values values({7, output_width + kernel - 1, outputs, kernel});
        SCOPED_TRACE(testing::Message() << kernel << ", " << outputs << ", " << output_width);
        for (const OneChannelPasses* const passes : passes_of_all_widths()) {
          for (const float lowest : {-infinity, 0.0F}) {
            EXPECT_EQ(bits(values.output(*passes, lowest)), bits(values.expected_output(lowest)));
          }
          EXPECT_EQ(bits(values.gradient(*passes)), bits(values.expected_gradient()));
        }
      }
    }
  }
}

// A build that lost its wide passes would be slow, and right.
TEST(OneChannelPasses, AreThoseOfTheWidestVectors) {
  const bool has_512_bits = rounds_once && processor_has_512_bits();
  const OneChannelPasses* const wide = one_channel_passes_of_512_bits();
  EXPECT_EQ(wide != nullptr, has_512_bits);
  EXPECT_EQ(&one_channel_passes(), has_512_bits ? wide : one_channel_passes_of_build());
}

TEST(OneChannelPasses, PadChannelsToWholeVectors) {
  EXPECT_EQ((OneChannelShape{28, 28, 1, 5}).padded_outputs(), 16U);
  EXPECT_EQ((OneChannelShape{28, 28, 16, 5}).padded_outputs(), 16U);
  EXPECT_EQ((OneChannelShape{28, 28, 17, 5}).padded_outputs(), 32U);
}

TEST(OneChannelPasses, TakeEachSampleAlone) {
  const Values values({6, 18, 10, 3});
  const std::vector<float> together = values.output(one_channel_passes(), -infinity);
  std::vector<float> sum(9 * 10, 0.0F);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::span<const float> of_sample =
        std::span(together).subspan(sample * values.outputs(), values.outputs());
    EXPECT_EQ(bits(values.output(one_channel_passes(), -infinity, sample, 1)), bits(of_sample));
    const std::vector<float> gradient = values.gradient(one_channel_passes(), sample, 1);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  }
  EXPECT_EQ(bits(values.gradient(one_channel_passes())), bits(sum));
}

}  // namespace
}  // namespace rubato::nn
