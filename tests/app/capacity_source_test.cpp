#include "app/capacity_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <filesystem>

#include "app/failure.hpp"
#include "data/errors.hpp"
#include "temporary_file.hpp"

namespace rubato::app {
namespace {

TEST(RankLimits, AreOneNumberOrTwo) {
  EXPECT_EQ(parse_rank_limits("3").least, 3U);
  EXPECT_EQ(parse_rank_limits("3").most, 3U);
  EXPECT_EQ(parse_rank_limits("2:5").least, 2U);
  EXPECT_EQ(parse_rank_limits("2:5").most, 5U);
  for (const auto* text : {"", "0", "5:2", ":2", "2:", "a", "1:2:3", "-1", "1000001"}) {
    EXPECT_THROW(parse_rank_limits(text), UsageError) << text;
  }
}

// ranks = floor(devices * most / largest), 0 below least
TEST(RanksFor, AreTheShareRoundedDown) {
  const RankLimits limits{.least = 2, .most = 8};
  for (std::uint64_t devices = 0; devices <= 60; ++devices) {
    const std::uint64_t share = std::min<std::uint64_t>(devices, 56) * 8 / 56;
    EXPECT_EQ(ranks_for(devices, 56, limits), share < 2 ? 0 : share) << devices;
  }
  EXPECT_EQ(ranks_for(56, 56, limits), 8U);
  EXPECT_EQ(ranks_for(55, 56, limits), 7U);
  EXPECT_EQ(ranks_for(14, 56, limits), 2U);
  EXPECT_EQ(ranks_for(13, 56, limits), 0U);
  EXPECT_EQ(ranks_for(2147483647, 2147483647, {.least = 1, .most = 1'000'000}), 1'000'000U);
}

TEST(CapacityFile, IsReadAtEveryLook) {
  TemporaryFile file(" 3\n");
  const auto capacity = capacity_file(file.path(), 8);
  EXPECT_EQ(capacity->largest(), 8U);
  EXPECT_EQ(capacity->devices_now(), 3U);
  file.write("0");
  EXPECT_EQ(capacity->devices_now(), 0U);
  EXPECT_FALSE(capacity->take_warning());
}

TEST(CapacityFile, KeepsTheLastNumberAndWarnsOnceOfWhatStaysWrong) {
  TemporaryFile file("3");
  const auto capacity = capacity_file(file.path(), 8);
  file.write("");
  EXPECT_EQ(capacity->devices_now(), 3U);
  EXPECT_FALSE(capacity->take_warning()) << "it may be in the middle of being written";
  EXPECT_EQ(capacity->devices_now(), 3U);
  EXPECT_EQ(capacity->take_warning(),
            file.path() +
                ":1:1: found nothing, expected one whole number of devices from 0 to"
                " 1000000; the last number, 3, stays");
  EXPECT_EQ(capacity->devices_now(), 3U);
  EXPECT_FALSE(capacity->take_warning());
  file.write("5");
  EXPECT_EQ(capacity->devices_now(), 5U);
}

TEST(CapacityFile, IsRefusedAtTheBeginning) {
  EXPECT_THROW(capacity_file("/nowhere/devices", 8), data::MissingFileError);
  for (const auto* text : {"", "two", "2.5", "-1", "1 2", "1000001"}) {
    const TemporaryFile file(text);
    EXPECT_THROW(capacity_file(file.path(), 8), data::ContentError) << text;
  }
}

TEST(CapacitySource, OfAHistoryBeginsWithItsFirstRow) {
  const auto history = CapacityHistory::from_csv_text("time,GPUs\n0,4\n3600,8\n", "h.csv", "");
  EXPECT_EQ(replayed_capacity(history, 1)->devices_now(), 4U);
  EXPECT_EQ(replayed_capacity(history, 1e15)->devices_now(), 8U);
  EXPECT_EQ(replayed_capacity(history, 1)->largest(), 8U);
  EXPECT_EQ(fixed_capacity(5)->devices_now(), fixed_capacity(5)->largest());
}

}  // namespace
}  // namespace rubato::app
