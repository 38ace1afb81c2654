#include "collectives/progress_marks.hpp"

#include <gtest/gtest.h>

#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

TEST(ProgressMarks, AStepIsReachedWhenTheSlowestRankHasReachedIt) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    ProgressMarks marks(topology, 100);
    marks.begin_round();
    marks.reach(10 + topology.node().rank());
    marks.reach(3);  // lower than before
    topology.node().barrier();
    EXPECT_TRUE(marks.have_all_reached(10));
    EXPECT_FALSE(marks.have_all_reached(11));
    topology.node().barrier();
    marks.reach(100);
    topology.node().barrier();
    EXPECT_TRUE(marks.have_all_reached(100));
  }
}

TEST(ProgressMarks, ARankOfTheRoundBeforeHasReachedNothing) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    ProgressMarks marks(topology, 5);
    const bool is_late = topology.node().rank() == topology.node().size() - 1;
    marks.begin_round();
    marks.reach(5);
    topology.node().barrier();
    if (!is_late) marks.begin_round();
    EXPECT_EQ(marks.have_all_reached(1), is_late);
    topology.node().barrier();
    if (is_late) marks.begin_round();
    marks.reach(1);
    topology.node().barrier();
    EXPECT_TRUE(marks.have_all_reached(1));
    EXPECT_FALSE(marks.have_all_reached(2));
  }
}

// What a rank wrote before its mark is there for who sees the mark.
TEST(ProgressMarks, WhatWasWrittenBeforeAMarkIsSeenWithIt) {
  constexpr std::size_t steps = 2000;
  for (const Topology& topology : real_and_pretended_topologies()) {
    ProgressMarks marks(topology, steps);
    const NodeMemory memory(topology, steps * sizeof(std::size_t));
    const std::size_t next = (topology.node().rank() + 1) % topology.node().size();
    const std::span<std::size_t> theirs = memory.region_as<std::size_t>(next);
    marks.begin_round();
    std::size_t seen = 0;
    std::size_t wrong = 0;
    for (std::size_t step = 1; step <= steps; ++step) {
      memory.region_as<std::size_t>(topology.node().rank())[step - 1] = step;
      marks.reach(step);
      for (; seen < steps && marks.have_all_reached(seen + 1); ++seen) {
        wrong += theirs[seen] == seen + 1 ? 0U : 1U;
      }
    }
    topology.node().barrier();
    EXPECT_TRUE(marks.have_all_reached(steps));
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace rubato::collectives
