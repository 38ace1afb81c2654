// The passes over images of one channel in vectors of either width against loops over single
// elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tests/nn/passes_under_test.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t samples = 3;

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
        add_product_of(pixel[place(k)], weights[k * shape.padded_outputs() + channel], sum);
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
        add_product_of(pixel[place(k)], output_gradient[output],
                       of_sample[k * shape.outputs + channel]);
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

  OneChannelShape shape;
  std::vector<float> input, weights, bias, output_gradient;
};

TEST(OneChannelPasses, HaveTheBitsOfLoopsOverSingleElementsInAnyWidth) {
  for (const std::size_t kernel : {3U, 5U}) {
    for (const std::size_t outputs : {1U, 8U, 10U, 16U, 20U, 32U, 33U}) {
      // Rows shorter than what is computed at once, as long, and longer.
      for (const std::size_t output_width : {1U, 11U, 12U, 23U, 24U}) {
        const Values values({7, output_width + kernel - 1, outputs, kernel});
        SCOPED_TRACE(testing::Message() << kernel << ", " << outputs << ", " << output_width);
        for (const ConvolutionPasses* const passes : passes_of_all_widths()) {
          for (const float lowest : {-infinity, 0.0F}) {
            EXPECT_EQ(bits(values.output(passes->one_channel, lowest)),
                      bits(values.expected_output(lowest)));
          }
          EXPECT_EQ(bits(values.gradient(passes->one_channel)), bits(values.expected_gradient()));
        }
      }
    }
  }
}

TEST(OneChannelPasses, TakeEachSampleAlone) {
  const Values values({6, 18, 10, 3});
  const std::vector<float> together = values.output(convolution_passes().one_channel, -infinity);
  std::vector<float> sum(9 * 10, 0.0F);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::span<const float> of_sample =
        std::span(together).subspan(sample * values.outputs(), values.outputs());
    EXPECT_EQ(bits(values.output(convolution_passes().one_channel, -infinity, sample, 1)),
              bits(of_sample));
    const std::vector<float> gradient =
        values.gradient(convolution_passes().one_channel, sample, 1);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  }
  EXPECT_EQ(bits(values.gradient(convolution_passes().one_channel)), bits(sum));
}

}  // namespace
}  // namespace rubato::nn
