// A ring of phases.
#include "runtime/timeline.hpp"

#include <gtest/gtest.h>

namespace rubato::runtime {
namespace {

using Entries = std::vector<TimelineEntry>;

TEST(Timeline, KeepsPhasesInOrder) {
  Timeline timeline(4);
  EXPECT_TRUE(timeline.entries().empty());
  timeline.enter(10, 1, Phase::loading_data);
  timeline.enter(20, 1, Phase::computing);
  timeline.enter(30, 2, Phase::computing);
  EXPECT_EQ(timeline.entries(), (Entries{{10, 1, Phase::loading_data},
                                         {20, 1, Phase::computing},
                                         {30, 2, Phase::computing}}));
  EXPECT_TRUE(timeline.is_complete());
}

TEST(Timeline, APhaseThatGoesOnIsOne) {
  Timeline timeline(4);
  timeline.enter(10, 1, Phase::evaluating);
  timeline.enter(20, 1, Phase::evaluating);
  EXPECT_EQ(timeline.entries(), (Entries{{10, 1, Phase::evaluating}}));
}

TEST(Timeline, TellsTheWaitFromTheSum) {
  Timeline timeline(4);
  timeline.enter(10, 1, Phase::accumulating);
  timeline.enter(20, 1, Phase::summing);
  timeline.waited_until(25);
  timeline.enter(30, 1, Phase::updating);
  EXPECT_EQ(timeline.entries(), (Entries{{10, 1, Phase::accumulating},
                                         {20, 1, Phase::waiting},
                                         {25, 1, Phase::summing},
                                         {30, 1, Phase::updating}}));
}

// Of a rank that has no minibatch in an update whose sum is made twice.
TEST(Timeline, ASumAfterASumIsAnotherOne) {
  Timeline timeline(6);
  timeline.enter(10, 1, Phase::summing);
  timeline.waited_until(15);
  timeline.enter(20, 1, Phase::summing);
  timeline.waited_until(25);
  EXPECT_EQ(timeline.entries(), (Entries{{10, 1, Phase::waiting},
                                         {15, 1, Phase::summing},
                                         {20, 1, Phase::waiting},
                                         {25, 1, Phase::summing}}));
}

TEST(Timeline, KeepsTheLastOfManySums) {
  Timeline timeline(3);
  EXPECT_TRUE(timeline.transfers().empty());
  for (std::uint64_t update = 1; update <= 5; ++update) {
    const auto begin = static_cast<std::int64_t>(10 * update);
    timeline.transferred({begin, begin + 3, update});
  }
  EXPECT_EQ(timeline.transfers(),
            (std::vector<TimelineTransfer>{{30, 33, 3}, {40, 43, 4}, {50, 53, 5}}));
  EXPECT_TRUE(timeline.is_complete());
}

TEST(Timeline, KeepsTheLastOfManyPhases) {
  Timeline timeline(3);
  for (std::uint64_t update = 1; update <= 3; ++update) {
    timeline.enter(static_cast<std::int64_t>(update), update, Phase::computing);
  }
  EXPECT_TRUE(timeline.is_complete());
  for (std::uint64_t update = 4; update <= 8; ++update) {
    timeline.enter(static_cast<std::int64_t>(update), update, Phase::computing);
    EXPECT_FALSE(timeline.is_complete());
    const Entries entries = timeline.entries();
    ASSERT_EQ(entries.size(), 3U);
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(entries[i].update, update - 2 + i);
  }
}

}  // namespace
}  // namespace rubato::runtime
