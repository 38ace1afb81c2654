// The passes with samples in the lanes, in vectors of either width, against loops over single
// elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/nn/passes_under_test.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t lanes = samples_in_lanes;

std::vector<const FewChannelPasses*> few_channel_passes() {
  std::vector<const FewChannelPasses*> all;
  for (const ConvolutionPasses* const passes : passes_of_all_widths()) {
    all.push_back(&passes->few_channels);
  }
  return all;
}

// Some elements more, which must stay as they are.
std::vector<float> space_for(std::size_t count) {
  return std::vector<float>(count + 64, untouched);
}
std::vector<float> without_rest(std::vector<float> values) {
  EXPECT_EQ(std::count(values.end() - 64, values.end(), untouched), 64);
  values.resize(values.size() - 64);
  return values;
}

TEST(FewChannelPasses, PutSamplesIntoLanesAndTakeThemOut) {
  for (const FewChannelPasses* const passes : few_channel_passes()) {
    for (const std::size_t channels : {1U, 3U, 4U, 10U}) {
      for (const std::size_t pixels : {1U, 5U, 12U}) {
        for (const std::size_t samples : {1U, 9U, 15U, 16U}) {
          SCOPED_TRACE(testing::Message() << channels << ", " << pixels << ", " << samples);
          const std::size_t elements = pixels * channels;
          const std::vector<float> values = random_values(samples * elements, 1);
          std::vector<float> in_lanes = space_for(elements * lanes);
          passes->into_lanes(pixels, channels, samples, values.data(), in_lanes.data());
          in_lanes = without_rest(in_lanes);
          for (std::size_t i = 0; i < in_lanes.size(); ++i) {
            const std::size_t sample = i % lanes;
            const std::size_t pixel = i / lanes % pixels;
            const std::size_t channel = i / lanes / pixels;
            const std::size_t element = sample * elements + pixel * channels + channel;
            ASSERT_EQ(in_lanes[i], sample < samples ? values[element] : 0.0F) << i;
          }
          std::vector<float> taken_out = space_for(values.size());
          passes->out_of_lanes(pixels, channels, samples, in_lanes.data(), taken_out.data());
          EXPECT_EQ(bits(without_rest(taken_out)), bits(values));
        }
      }
    }
  }
}

// Calls visit(output channel, y, x).
template <class Visit>
void for_each_output(const FewChannelShape& shape, const Visit& visit) {
  for (std::size_t i = 0; i < shape.outputs * shape.output_pixels(); ++i) {
    const std::size_t pixel = i % shape.output_pixels();
    visit(i / shape.output_pixels(), pixel / shape.output_width(), pixel % shape.output_width());
  }
}

// Calls visit(input channel, kernel pixel, input pixel) for those of a patch that lie in the image.
template <class Visit>
void for_each_in_patch(const FewChannelShape& shape, std::size_t y, std::size_t x,
                       const Visit& visit) {
  for (std::size_t i = 0; i < shape.patch_elements(); ++i) {
    const std::size_t k = i % (shape.kernel * shape.kernel);
    // Of the padded image.
    const std::size_t row = y + k / shape.kernel;
    const std::size_t column = x + k % shape.kernel;
    if (row < shape.padding || row >= shape.padding + shape.height) continue;
    if (column < shape.padding || column >= shape.padding + shape.width) continue;
    visit(i / (shape.kernel * shape.kernel), k,
          (row - shape.padding) * shape.width + column - shape.padding);
  }
}

// `weights` [output, input, kernel pixel].
std::vector<float> expected_output(const FewChannelShape& shape, const std::vector<float>& input,
                                   const std::vector<float>& weights,
                                   const std::vector<float>& bias, float lowest) {
  std::vector<float> result;
  for_each_output(shape, [&](std::size_t output, std::size_t y, std::size_t x) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      float sum = bias[output];
      for_each_in_patch(shape, y, x, [&](std::size_t channel, std::size_t k, std::size_t pixel) {
        const std::size_t weight =
            output * shape.patch_elements() + channel * shape.kernel * shape.kernel + k;
        add_product_of(weights[weight],
                       input[(channel * shape.height * shape.width + pixel) * lanes + lane], sum);
      });
      result.push_back(sum <= lowest ? lowest : sum);
    }
  });
  return result;
}

std::vector<float> in_blocks(const FewChannelShape& shape, const std::vector<float>& weights,
                             std::size_t most) {
  std::vector<float> result;
  std::size_t end = 0;
  for (std::size_t first = 0; first < shape.outputs; first = end) {
    end = first + channels_in_block(first, shape.outputs, most);
    for (std::size_t i = 0; i < shape.patch_elements(); ++i) {
      for (std::size_t output = first; output < end; ++output) {
        result.push_back(weights[output * shape.patch_elements() + i]);
      }
    }
  }
  return result;
}

// Channels in one block and in several, of one size and not; images as small as the kernel, and
// padded ones that are smaller.
std::vector<FewChannelShape> shapes() {
  return {{12, 12, 10, 20}, {8, 8, 20, 10, 4}, {5, 7, 2, 1},  {6, 5, 3, 17},
          {5, 5, 7, 11},    {4, 5, 5, 9, 2},   {5, 6, 2, 23}, {1, 2, 4, 6, 4}};
}

TEST(FewChannelPasses, ConvolveWithTheBitsOfLoopsOverSingleElements) {
  for (const FewChannelShape& shape : shapes()) {
    SCOPED_TRACE(testing::Message() << shape.height << "x" << shape.width << "x" << shape.inputs);
    const auto input = random_values(shape.height * shape.width * shape.inputs * lanes, 1);
    const auto weights = random_values(shape.outputs * shape.patch_elements(), 2);
    const auto bias = random_values(shape.outputs, 3);
    for (const float lowest : {-infinity, 0.0F}) {
      const auto expected = bits(expected_output(shape, input, weights, bias, lowest));
      for (const FewChannelPasses* const passes : few_channel_passes()) {
        std::vector<float> output = space_for(shape.outputs * shape.output_pixels() * lanes);
        passes->convolve(shape, input.data(),
                         in_blocks(shape, weights, passes->most_in_block).data(), bias.data(),
                         lowest, output.data());
        EXPECT_EQ(bits(without_rest(output)), expected);
      }
    }
  }
}

TEST(FewChannelPasses, AddUpGradientsWithTheBitsOfLoopsOverSingleElements) {
  for (const FewChannelShape& shape : shapes()) {
    if (shape.padding > 0) continue;
    SCOPED_TRACE(testing::Message() << shape.height << "x" << shape.width << "x" << shape.inputs);
    const auto input = random_values(shape.height * shape.width * shape.inputs * lanes, 1);
    const auto gradient = random_values(shape.outputs * shape.output_pixels() * lanes, 2);
    // They are added to what is there.
    const auto before = random_values(shape.outputs * shape.patch_elements() * lanes, 3);
    std::vector<float> expected = before;
    for_each_output(shape, [&](std::size_t output, std::size_t y, std::size_t x) {
      for_each_in_patch(shape, y, x, [&](std::size_t channel, std::size_t k, std::size_t pixel) {
        const std::size_t weight =
            output * shape.patch_elements() + channel * shape.kernel * shape.kernel + k;
        const std::size_t of_output = output * shape.output_pixels() + y * shape.output_width() + x;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          add_product_of(gradient[of_output * lanes + lane],
                         input[(channel * shape.height * shape.width + pixel) * lanes + lane],
                         expected[weight * lanes + lane]);
        }
      });
    });
    for (const FewChannelPasses* const passes : few_channel_passes()) {
      std::vector<float> sums = before;
      sums.resize(before.size() + 64, untouched);
      passes->add_weight_gradient(shape, input.data(), gradient.data(), sums.data());
      EXPECT_EQ(bits(without_rest(sums)), bits(expected));
    }
  }
}

float sum_of_four(float a, float b, float c, float d) { return (a + c) + (b + d); }

TEST(FewChannelPasses, AddLanesInOneOrder) {
  constexpr std::size_t count = 37;
  const std::vector<float> sums = random_values(count * lanes, 1);
  std::vector<float> expected;
  for (std::size_t i = 0; i < count; ++i) {
    const float* const s = sums.data() + i * lanes;
    expected.push_back(sum_of_four(
        sum_of_four(s[0], s[1], s[2], s[3]), sum_of_four(s[4], s[5], s[6], s[7]),
        sum_of_four(s[8], s[9], s[10], s[11]), sum_of_four(s[12], s[13], s[14], s[15])));
  }
  for (const FewChannelPasses* const passes : few_channel_passes()) {
    std::vector<float> result = space_for(count);
    passes->add_lanes(count, sums.data(), result.data());
    EXPECT_EQ(bits(without_rest(result)), bits(expected));
  }
}

}  // namespace
}  // namespace rubato::nn
