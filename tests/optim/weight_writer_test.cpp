#include "optim/weight_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

namespace rubato::optim {
namespace {

// Adds 1, 2, 3, ... to the block's elements. Whether they were changed in place.
bool add_position(WeightWriter& writer, std::span<float> block) {
  writer.begin();
  bool is_in_place = false;
  std::size_t next = 0;
  writer.write(block, [&](std::size_t begin, std::span<float> piece) {
    EXPECT_EQ(begin, next);
    is_in_place = piece.data() == block.data() + begin;
    for (float& element : piece) element += static_cast<float>(++next);
  });
  EXPECT_EQ(next, block.size());
  return is_in_place;
}

TEST(WeightWriter, WritesTheSameInBothWays) {
  for (const std::size_t size : {1UL, 1023UL, 2500UL, norm_block_elements}) {
    WeightWriter writer(/*others_read=*/true);
    std::vector<float> weights(size + 2, 5);
    std::set<bool> ways;
    constexpr int updates = 6;
    for (int i = 0; i < updates; ++i) {
      ways.insert(add_position(writer, std::span(weights).subspan(1, size)));
    }
    EXPECT_EQ(ways.size(), 2U) << "both are tried";
    EXPECT_EQ(weights.front(), 5);
    EXPECT_EQ(weights.back(), 5);
    for (std::size_t i = 1; i <= size; ++i) {
      ASSERT_EQ(weights[i], 5 + updates * static_cast<float>(i)) << i << " of " << size;
    }
  }
}

TEST(WeightWriter, WritesABlockAsAWholeInBothWays) {
  WeightWriter writer(/*others_read=*/true);
  std::vector<float> weights(norm_block_elements, 5);
  std::set<bool> ways;
  for (int i = 0; i < 6; ++i) {
    writer.begin();
    writer.write_whole(std::span(weights), [&](std::span<float> all) {
      EXPECT_EQ(all.size(), weights.size());
      ways.insert(all.data() == weights.data());
      for (float& weight : all) weight += 1;
    });
  }
  EXPECT_EQ(ways.size(), 2U);
  EXPECT_THAT(weights, testing::Each(11));
}

TEST(WeightWriter, GoesTheFasterWay) {
  for (const bool in_place_is_slow : {false, true}) {
    WeightWriter writer(/*others_read=*/true);
    std::vector<float> weights(10);
    int in_the_slow_way = 0;
    for (int i = 0; i < 26; ++i) {
      writer.begin();
      writer.write_whole(std::span(weights), [&](std::span<float> all) {
        const bool is_slow = (all.data() == weights.data()) == in_place_is_slow;
        if (is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        in_the_slow_way += is_slow ? 1 : 0;
      });
    }
    EXPECT_LE(in_the_slow_way, 10) << "5 at first, a trial or two, and a machine held up";
  }
}

TEST(WeightWriter, WritesAtOnceWhatNobodyElseReads) {
  WeightWriter writer(/*others_read=*/false);
  std::vector<float> weights(norm_block_elements);
  for (int i = 0; i < 6; ++i) {
    writer.begin();
    int calls = 0;
    writer.write(std::span(weights), [&](std::size_t, std::span<float> piece) {
      EXPECT_EQ(piece.data(), weights.data());
      EXPECT_EQ(piece.size(), weights.size());
      ++calls;
    });
    EXPECT_EQ(calls, 1);
  }
}

}  // namespace
}  // namespace rubato::optim
