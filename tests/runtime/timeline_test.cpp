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
