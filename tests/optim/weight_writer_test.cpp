#include "optim/weight_writer.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

namespace rubato::optim {
namespace {

constexpr std::size_t piece_elements = 1024;

// Adds 1, 2, 3, ... to the block's elements. Whether they were changed in place.
bool add_position(WeightWriter& writer, std::span<float> block) {
  writer.begin();
  bool is_in_place = false;
  std::size_t next = 0;
  writer.write<piece_elements>(block, [&](std::size_t begin, std::span<float> piece) {
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

TEST(WeightWriter, WritesAtOnceWhatNobodyElseReads) {
  WeightWriter writer(/*others_read=*/false);
  std::vector<float> weights(norm_block_elements);
  for (int i = 0; i < 6; ++i) {
    writer.begin();
    int calls = 0;
    writer.write<piece_elements>(std::span(weights), [&](std::size_t, std::span<float> piece) {
      EXPECT_EQ(piece.data(), weights.data());
      EXPECT_EQ(piece.size(), weights.size());
      ++calls;
    });
    EXPECT_EQ(calls, 1);
  }
}

}  // namespace
}  // namespace rubato::optim
