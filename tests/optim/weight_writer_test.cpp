#include "optim/weight_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
    constexpr int first = 2 * static_cast<int>(FasterWay::times_kept);
    for (int i = 0; i < 2 * first; ++i) {
      writer.begin();
      writer.write_whole(std::span(weights), [&](std::span<float> all) {
        const bool is_slow = (all.data() == weights.data()) == in_place_is_slow;
        if (is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        in_the_slow_way += is_slow ? 1 : 0;
      });
    }
    EXPECT_LE(in_the_slow_way, first / 2 + 4) << "at first, a trial, and a machine held up";
  }
}

// A node's weights, of which this rank owns those from 8 to 24, and another rank the others.
class OwnWeightsOfAWriter : public testing::Test {
 protected:
  // Each weight grows by 1: this rank's by the writer, the other's under its hands. Whether the
  // rank computes with weights of its own from then on.
  bool update() {
    writer.begin();
    writer.write(std::span(shared).subspan(mine.begin, mine.size),
                 [](std::size_t, std::span<float> piece) {
                   for (float& weight : piece) weight += 1;
                 });
    for (std::size_t i = 0; i < shared.size(); ++i) {
      if (i < mine.begin || i >= mine.end()) shared[i] += 1;
    }
    return take_up();
  }

  bool take_up() {
    with = writer.own_weights();
    const bool are_own = !with.empty();
    EXPECT_EQ(writer.has_own(), are_own);
    if (!are_own) with = shared;
    EXPECT_TRUE(std::ranges::equal(with, shared));
    return are_own;
  }

  void SetUp() override { writer.allow_own(shared, mine); }
  void compute(double seconds = 0.001, std::size_t minibatches = 1) {
    writer.computed(with, static_cast<double>(minibatches) * seconds, minibatches);
  }

  // So that the rank computes with weights of its own, or does not, for some time.
  void settle(bool with_own) {
    for (int i = 0; i < 400; ++i) {
      const bool is_own = with.data() != shared.data();
      compute(is_own == with_own ? 0.001 : 0.002);
      update();
    }
  }

  std::vector<float> shared = std::vector<float>(40, 5);
  collectives::Slice mine{8, 16};
  WeightWriter writer{/*others_read=*/true};
  std::span<const float> with = shared;
};

TEST_F(OwnWeightsOfAWriter, AreTheNodesWhicheverWayIsGone) {
  std::set<bool> ways;
  for (int i = 0; i < 200; ++i) {
    compute();
    ways.insert(update());
  }
  EXPECT_EQ(ways.size(), 2U);
  EXPECT_THAT(shared, testing::Each(205));
}

// The first update of a way pays for the change, and tells nothing of the way.
TEST_F(OwnWeightsOfAWriter, AreKeptOrNotForTwoUpdatesAtLeast) {
  int same = 2;
  bool was_own = false;
  for (int i = 0; i < 200; ++i) {
    compute();
    const bool is_own = update();
    if (is_own != was_own) {
      EXPECT_GE(same, 2) << "before update " << i;
    }
    same = is_own == was_own ? same + 1 : 1;
    was_own = is_own;
  }
}

TEST_F(OwnWeightsOfAWriter, AreComputedWithWhereThatIsFaster) {
  for (const bool own_is_faster : {true, false, true}) {
    settle(own_is_faster);
    int own = 0;
    for (int i = 0; i < 100; ++i) {
      compute((with.data() != shared.data()) == own_is_faster ? 0.001 : 0.002);
      own += update() ? 1 : 0;
    }
    if (own_is_faster) {
      EXPECT_GE(own, 85);
    } else {
      EXPECT_LE(own, 15);
    }
  }
}

// What counts is the time of one, as an update may have more of them than the one before.
TEST_F(OwnWeightsOfAWriter, AreKeptForTheirSpeedWhateverTheNumberOfMinibatches) {
  for (const std::vector<std::size_t>& numbers :
       {std::vector<std::size_t>{1, 2, 3, 4, 5}, {0, 1}, {1, 0, 0, 3}}) {
    int own = 0;
    for (std::size_t i = 0; i < 1200; ++i) {
      const bool is_own = with.data() != shared.data();
      compute(is_own ? 0.001 : 0.0012, numbers[i % numbers.size()]);
      own += update() && i >= 800 ? 1 : 0;
    }
    EXPECT_GE(own, 340) << testing::PrintToString(numbers);
    settle(/*with_own=*/false);
  }
}

TEST_F(OwnWeightsOfAWriter, AreTakenAnewWhenTheNodesHaveBeenReplaced) {
  settle(/*with_own=*/true);
  while (with.data() == shared.data()) {
    compute();
    update();
  }
  std::ranges::fill(shared, 100);
  with = shared;
  compute();
  for (int updates = 1; updates < 5; ++updates) {
    update();
    EXPECT_THAT(shared, testing::Each(100 + updates));
    compute();
  }
}

// Which is slow: so what nobody says has changed in the node's weights has no effect.
TEST_F(OwnWeightsOfAWriter, AreSteppedWithoutReadingTheNodes) {
  settle(/*with_own=*/true);
  bool was_own = false;
  for (int i = 0; i < 3; ++i) {  // of which a trial takes two at most
    const float before = shared[mine.begin];
    compute();
    if (with.data() != shared.data()) shared[mine.begin] = 1e6F;
    if (!update()) {
      shared[mine.begin] = before + 1;
      continue;
    }
    was_own |= before + 1 == shared[mine.begin];
    EXPECT_LT(shared[mine.begin], 1e6F);
  }
  EXPECT_TRUE(was_own);
}

TEST_F(OwnWeightsOfAWriter, StayAsTheyAreWhereAnUpdateIsLeftOut) {
  settle(/*with_own=*/true);
  while (with.data() == shared.data()) {
    compute();
    update();
  }
  compute();
  EXPECT_TRUE(take_up());
  std::ranges::fill(shared, 100);
  with = shared;
  compute();
  EXPECT_FALSE(take_up()) << "and are none after the node's have been replaced";
}

TEST(WeightWriter, ComputesWithNoOwnWeightsThatNobodyElseReadsOrThatAreLarge) {
  const std::vector<float> few(40);
  const std::vector<float> many(OwnWeights::most_bytes / sizeof(float) + 1);
  for (const bool others_read : {false, true}) {
    const std::span<const float> shared = others_read ? many : few;
    WeightWriter writer(others_read);
    writer.allow_own(shared, {0, 16});
    for (int i = 0; i < 100; ++i) {
      writer.computed(shared, 0.001, 1);
      writer.begin();
      EXPECT_TRUE(writer.own_weights().empty());
    }
  }
}

TEST(WeightWriter, RefusesABlockForWhichItHasNoRoom) {
  WeightWriter writer(/*others_read=*/true);
  std::vector<float> weights(norm_block_elements + 1);
  writer.begin();
  EXPECT_THROW(writer.write_whole(std::span(weights), [](std::span<float>) {}), std::logic_error);
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
