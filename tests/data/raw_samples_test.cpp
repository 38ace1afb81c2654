// Measuring, splitting and reordering.
#include "data/raw_samples.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

TEST(RawSamples, MeasuresEachChannelOfTheScaledValues) {
  // Channel 0: 1, 3, 5, 7 (mean 4, variance 5); channel 1: always 6.
  const RawSamples samples{"f", {2, 1, 2}, std::vector<float>{1, 6, 3, 6, 5, 6, 7, 6}, {0, 1}};
  const Standardisation result = measure(samples, 0.5F);
  EXPECT_EQ(result.scale, 0.5F);
  EXPECT_EQ(result.mean, (std::vector<float>{2, 3}));
  EXPECT_FLOAT_EQ(result.deviation[0], 1.118033988749895F);  // sqrt(5) / 2
  EXPECT_EQ(result.deviation[1], 1.0F);                      // a constant channel
}

TEST(RawSamples, AConstantThatIsNoBinaryFractionHasNoSpread) {
  const RawSamples samples{
      "f", {1, 1, 1}, std::vector<float>(1000, 0.1F), std::vector<std::int32_t>(1000)};
  EXPECT_EQ(measure(samples, 1).deviation[0], 1.0F);
}

TEST(RawSamples, ScalesBytesToOneAndLeavesFloats) {
  EXPECT_EQ(usual_scale(std::vector<std::uint8_t>{}), 1.0F / 255.0F);
  EXPECT_EQ(usual_scale(std::vector<float>{}), 1.0F);
}

TEST(RawSamples, SplitsEveryKth) {
  const RawSamples samples{"f",
                           {1, 1, 2},
                           std::vector<std::uint8_t>{0, 1, 10, 11, 20, 21, 30, 31, 40, 41},
                           {0, 1, 2, 3, 4}};
  const Split split = split_every(samples, 2);
  EXPECT_EQ(split.test.labels, (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(split.train.labels, (std::vector<std::int32_t>{0, 2, 4}));
  EXPECT_EQ(std::get<0>(split.test.values), (std::vector<std::uint8_t>{10, 11, 30, 31}));
  EXPECT_EQ(std::get<0>(split.train.values), (std::vector<std::uint8_t>{0, 1, 20, 21, 40, 41}));
  EXPECT_EQ(split.test.shape, samples.shape);
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { split_every(samples, 1); }),
            "test-every: found 1, expected 2 to the number of samples, 5");
  EXPECT_THROW(split_every(samples, 6), std::invalid_argument);
}

TEST(RawSamples, CountsClasses) { EXPECT_EQ(count_classes({"f", {1, 1, 1}, {}, {0, 4, 2}}), 5U); }

TEST(RawSamples, MovesChannelsLast) {
  // Two samples of 2 channels x 1 x 3.
  InMemoryDataset::Values values = std::vector<float>{0, 1, 2, 10, 11, 12, 5, 6, 7, 15, 16, 17};
  to_channels_last(values, {1, 3, 2});
  EXPECT_EQ(std::get<std::vector<float>>(values),
            (std::vector<float>{0, 10, 1, 11, 2, 12, 5, 15, 6, 16, 7, 17}));
}

}  // namespace
}  // namespace rubato::data
