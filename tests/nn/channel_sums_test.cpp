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

TEST(ChannelSums, SpreadsChannelsOverLanes) {
  const ChannelSums channel_sums(10);
  std::vector<float> per_channel(10);
  for (std::size_t c = 0; c < 10; ++c) per_channel[c] = static_cast<float>(c + 1);
  std::vector<float> per_lane(channel_sums.lanes());
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
