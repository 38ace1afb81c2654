#include "nn/channel_sums.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::nn {
namespace {

// Small whole numbers: every order of adding gives the same sum, so the closed form must be met
// exactly.
TEST(ChannelSums, AddsEachChannelOverAllPixels) {
  for (const std::size_t channels : {1U, 3U, 8U, 10U, 20U, 64U}) {
    for (const std::size_t pixels : {1U, 2U, 7U, 33U, 1000U}) {
      ChannelSums channel_sums(channels);
      std::vector<double> sums(channels, -1);
      channel_sums.add_up(pixels * channels, sums, [=](std::size_t i, std::size_t /*lane*/) {
        return static_cast<float>(i / channels + 100 * (i % channels));
      });
      const double pixel_sum = static_cast<double>(pixels * (pixels - 1)) / 2;
      for (std::size_t c = 0; c < channels; ++c) {
        ASSERT_EQ(sums[c], pixel_sum + static_cast<double>(100 * c * pixels))
            << channels << " channels, " << pixels << " pixels";
      }
    }
  }
}

TEST(ChannelSums, TellsTheTermItsLane) {
  ChannelSums channel_sums(10);
  std::vector<float> per_channel(10);
  for (std::size_t c = 0; c < 10; ++c) per_channel[c] = static_cast<float>(c + 1);
  std::vector<float> per_lane(channel_sums.lanes());
  channel_sums.spread(per_channel, per_lane);
  std::vector<double> sums(10);
  channel_sums.add_up(10 * 9, sums, [&](std::size_t, std::size_t lane) { return per_lane[lane]; });
  for (std::size_t c = 0; c < 10; ++c) EXPECT_EQ(sums[c], 9.0 * static_cast<double>(c + 1));
}

TEST(ChannelSums, LosesNothingOverManyPixels) {  // a float alone would stop growing at 2^24
  ChannelSums channel_sums(1);
  std::vector<double> sums(1);
  constexpr std::size_t pixels = 40'000'000;
  channel_sums.add_up(pixels, sums, [](std::size_t, std::size_t) { return 1.0F; });
  EXPECT_EQ(sums[0], static_cast<double>(pixels));
}

}  // namespace
}  // namespace rubato::nn
