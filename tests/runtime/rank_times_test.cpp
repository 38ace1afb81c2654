// Waiting, of times that are known.
#include "runtime/rank_times.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::runtime {
namespace {

using Times = std::vector<RankTime>;

TEST(RankTimes, TravelAsNotes) {
  const Times times{{3, 2, 1}, {0.5, 0.25, 2}};
  const std::vector<optim::RankNote> notes{note_of(times[0]), note_of(times[1])};
  EXPECT_EQ(rank_times(notes), times);
}

TEST(Imbalance, IsTheSlowestOverTheMeanLessOne) {
  EXPECT_DOUBLE_EQ(imbalance(Times{{2}, {2}, {2}}), 0);
  EXPECT_DOUBLE_EQ(imbalance(Times{{1}, {3}}), 0.5);
  EXPECT_DOUBLE_EQ(imbalance(Times{{0}, {4}, {0}, {0}}), 3);  // one of four works
  EXPECT_DOUBLE_EQ(imbalance(Times{{7}}), 0);
  EXPECT_DOUBLE_EQ(imbalance(Times{{0}, {0}}), 0);
}

TEST(SubstepTimer, TellsWholeMinibatchesFromShortOnes) {
  double now = 100;
  SubstepTimer timer([&] { return now; });
  for (const int round : {1, 2}) {  // begin() forgets the round before
    timer.begin();
    EXPECT_EQ(timer.time(), RankTime{}) << round;
    now += 2;
    timer.take(/*is_whole=*/true);
    now += 3;
    timer.take(/*is_whole=*/true);
    now += 0.5;
    timer.take(/*is_whole=*/false);
    EXPECT_EQ(timer.time(), (RankTime{5.5, 5, 2})) << round;
    now += 10;
  }
}

TEST(SubstepTimer, HasTheSteadyClockByDefault) {
  SubstepTimer timer;
  timer.begin();
  timer.take(/*is_whole=*/true);
  EXPECT_GE(timer.time().busy_seconds, 0);
  EXPECT_LT(timer.time().busy_seconds, 10);
}

TEST(WaitingTotals, WeighUpdatesByTheirTime) {
  WaitingTotals totals(2);
  EXPECT_EQ(totals.share(), 0);
  totals.add(Times{{1, 1, 1}, {3, 3, 3}}, 4);  // one waits for 2 of 4 s: a share of 1/4
  totals.add(Times{{6, 6, 6}, {6, 6, 6}}, 6);  // nobody waits
  EXPECT_DOUBLE_EQ(totals.share(), 0.1);
  EXPECT_EQ(totals.seconds(), (std::vector<double>{2, 0}));
  totals.add(Times{{5, 5, 5}, {1, 1, 1}}, 6);
  EXPECT_EQ(totals.seconds(), (std::vector<double>{2, 4}));
  EXPECT_DOUBLE_EQ(totals.share(), 3.0 / 16);
  EXPECT_FALSE(totals.slow_rank());  // as long for a minibatch
}

TEST(WaitingTotals, NameTheRankThatStandsOut) {
  WaitingTotals totals(4);
  for (int update = 0; update < 20; ++update) {
    EXPECT_FALSE(totals.slow_rank()) << update;
    totals.add(Times{{2, 2, 2}, {2.2, 2.2, 2}, {2, 2, 1}, {}}, 2);  // the last one is idle
  }
  ASSERT_TRUE(totals.slow_rank());
  EXPECT_EQ(totals.slow_rank()->rank, 2U);
  EXPECT_NEAR(totals.slow_rank()->ratio, 2, 1e-12);  // the lower of 1 and 1.1 in the middle
  EXPECT_EQ(totals.slow_rank()->host, "");
  EXPECT_EQ(totals.slow_rank(std::vector<std::string>{"a", "b", "c", "d"})->host, "c");
}

TEST(WaitingTotals, NameNobodyWhereThereIsNobodyToCompare) {
  WaitingTotals alone(1);
  WaitingTotals one_works(3);
  for (int update = 0; update < 20; ++update) {
    alone.add(Times{{5, 5, 1}}, 5);
    one_works.add(Times{{5, 5, 1}, {}, {}}, 5);
  }
  EXPECT_FALSE(alone.slow_rank());
  EXPECT_FALSE(one_works.slow_rank());
}

TEST(WaitingTotals, NameNobodyInARunOfAMoment) {
  WaitingTotals totals(2);
  for (int update = 0; update < 30; ++update) totals.add(Times{{1, 1, 1}, {9, 9, 1}}, 0.01);
  EXPECT_FALSE(totals.slow_rank());
}

}  // namespace
}  // namespace rubato::runtime
