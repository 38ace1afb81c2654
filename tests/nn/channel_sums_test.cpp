#include "nn/channel_sums.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::nn {
namespace {

std::vector<double> sums_of(const std::vector<float>& values, std::size_t channels) {
  ChannelSums channel_sums(channels);
  std::vector<double> sums(channels, -1);
  sum_over_pixels(values, channel_sums, sums);
  return sums;
}

// Small whole numbers: every order of adding gives the same sum, so the closed form must be met
// exactly.
TEST(ChannelSums, AddsEachChannelOverAllPixels) {
  for (const std::size_t channels : {1U, 3U, 8U, 10U, 20U, 64U, 100U}) {
    for (const std::size_t pixels : {1U, 2U, 7U, 33U, 1000U}) {
      std::vector<float> values(pixels * channels);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i / channels + 100 * (i % channels));
      }
      const std::vector<double> sums = sums_of(values, channels);
      const double pixel_sum = static_cast<double>(pixels * (pixels - 1)) / 2;
      for (std::size_t c = 0; c < channels; ++c) {
        ASSERT_EQ(sums[c], pixel_sum + static_cast<double>(100 * c * pixels))
            << channels << " channels, " << pixels << " pixels";
      }
    }
  }
}

// Of 48 channels: the planes of a block are 1, 7 and 100 pixels, of which two or four fill a row of
// lanes.
void expect_sums_of_blocks(Order order) {
  for (const std::size_t pixels : {1U, 7U, 100U}) {
    const Shape shape{1, pixels, 48, order};
    const std::size_t adjacent = shape.adjacent_channels();
    constexpr std::size_t samples = 3;
    std::vector<float> values(samples * shape.elements());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t sample = i / shape.elements();
      const std::size_t block = i / (adjacent * pixels) % (48 / adjacent);
      values[i] = static_cast<float>(100 * (adjacent * block + i % adjacent) +
                                     i / adjacent % pixels + sample);
    }
    ChannelSums channel_sums{ChannelLanes(shape)};
    std::vector<double> sums(48, -1);
    sum_over_pixels(values, channel_sums, sums);
    for (std::size_t c = 0; c < 48; ++c) {
      ASSERT_EQ(sums[c], static_cast<double>(
                             samples * (pixels * (pixels - 1) / 2 + 100 * c * pixels) + 3 * pixels))
          << pixels << " pixels";
    }
  }
}

TEST(ChannelSums, AddsEachChannelOfBlocksOverAllPixels) {
  expect_sums_of_blocks(Order::blocks_of_8);
  expect_sums_of_blocks(Order::blocks_of_16);
}

TEST(ChannelSums, SpreadsChannelsOfBlocksOverLanes) {
  const ChannelSums channel_sums{ChannelLanes(Shape{2, 2, 48, Order::blocks_of_16})};
  ASSERT_EQ(channel_sums.lanes().count(), 96U);
  std::vector<float> per_channel(48);
  for (std::size_t c = 0; c < 48; ++c) per_channel[c] = static_cast<float>(c + 1);
  std::vector<float> per_lane(96);
  channel_sums.spread(per_channel, per_lane);
  for (std::size_t lane = 0; lane < 96; ++lane) {
    EXPECT_EQ(per_lane[lane], static_cast<float>(lane / 32 * 16 + lane % 16 + 1));
  }
}

TEST(ChannelSums, SpreadsChannelsOverLanes) {
  const ChannelSums channel_sums(10);
  std::vector<float> per_channel(10);
  for (std::size_t c = 0; c < 10; ++c) per_channel[c] = static_cast<float>(c + 1);
  std::vector<float> per_lane(channel_sums.lanes().count());
  channel_sums.spread(per_channel, per_lane);
  for (std::size_t lane = 0; lane < per_lane.size(); ++lane) {
    EXPECT_EQ(per_lane[lane], static_cast<float>(lane % 10 + 1));
  }
}

TEST(ChannelSums, KeepsQuantitiesApartAndAddsSquares) {
  ChannelSums channel_sums(32, 2);
  Block sums;
  for (Floats& vector : sums.vectors) vector = Floats{} + 6.0F;
  const BlockRun run{0, 4, 0, 32};
  channel_sums.add(0, run, sums);
  channel_sums.add(1, run, sums);
  channel_sums.add_squares(1, run, sums);
  std::vector<double> first(32);
  std::vector<double> second(32);
  channel_sums.fold(0, first);
  channel_sums.fold(1, second);
  EXPECT_EQ(first, std::vector<double>(32, 6.0));
  EXPECT_EQ(second, std::vector<double>(32, 6.0 + 36.0 / 4));
  channel_sums.clear();
  channel_sums.fold(1, second);
  EXPECT_EQ(second, std::vector<double>(32, 0.0));
}

TEST(ChannelSums, LosesNothingOverManyPixels) {  // a float alone would stop growing at 2^24
  constexpr std::size_t pixels = 40'000'000;
  EXPECT_EQ(sums_of(std::vector<float>(pixels, 1.0F), 1)[0], static_cast<double>(pixels));
}

}  // namespace
}  // namespace rubato::nn
