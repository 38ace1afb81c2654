// What is learned of ranks whose speeds are known, and how assignments follow.
#include "runtime/rank_speeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rubato::runtime {
namespace {

using Counts = std::vector<std::size_t>;
using Seconds = std::vector<double>;

class RankSpeedsTest : public testing::Test {
 protected:
  // Runs an update as it would be assigned: rank r takes seconds[r] for each of its minibatches.
  // How many each one has had.
  Counts update(RankSpeeds& speeds, const Seconds& seconds, std::size_t minibatches) {
    Counts counts(seconds.size(), minibatches / seconds.size());
    if (speeds.are_known()) {
      counts.assign(seconds.size(), 0);
      for (const std::size_t owner : speeds.assign(Seconds(minibatches, 1.0))) ++counts[owner];
    }
    std::vector<RankTime> times;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      const auto count = static_cast<double>(counts[rank]);
      times.push_back({count * seconds[rank], count * seconds[rank], count});
    }
    speeds.learn(times, 1);
    return counts;
  }
  Counts after(std::size_t updates, RankSpeeds& speeds, const Seconds& seconds,
               std::size_t minibatches) {
    Counts counts;
    for (std::size_t i = 0; i < updates; ++i) counts = update(speeds, seconds, minibatches);
    return counts;
  }
};

TEST_F(RankSpeedsTest, NothingIsKnownBeforeThreeUpdates) {
  RankSpeeds speeds(2);
  const std::vector<RankTime> nothing{{1, 0, 0}, {}};  // short minibatches tell nothing
  for (int i = 0; i < 5; ++i) speeds.learn(nothing, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(speeds.are_known());
    update(speeds, {1, 2}, 6);
  }
  EXPECT_TRUE(speeds.are_known());
}

TEST_F(RankSpeedsTest, ASlowRankGetsLess) {
  for (const auto& [slow, expected] :
       {std::pair{2.0, Counts{8, 4}}, {3.0, Counts{9, 3}}, {11.0, Counts{11, 1}}}) {
    RankSpeeds speeds(2);
    after(3, speeds, {1, slow}, 12);
    EXPECT_EQ(update(speeds, {1, slow}, 12), expected);
  }
}

TEST_F(RankSpeedsTest, TwoOutliersMoveNothingAndALastingChangeDoes) {
  RankSpeeds speeds(2);
  EXPECT_EQ(after(10, speeds, {1, 1}, 12), (Counts{6, 6}));
  for (int outlier = 0; outlier < 2; ++outlier) update(speeds, {1, 9}, 12);
  EXPECT_EQ(update(speeds, {1, 1}, 12), (Counts{6, 6}));
  after(5, speeds, {1, 1}, 12);
  for (int slower = 0; slower < 3; ++slower) {
    EXPECT_EQ(update(speeds, {1, 2}, 12), (Counts{6, 6})) << slower;
  }
  EXPECT_EQ(update(speeds, {1, 2}, 12), (Counts{8, 4}));
  after(2, speeds, {1, 1}, 12);
  EXPECT_EQ(after(2, speeds, {1, 1}, 12), (Counts{6, 6}));
}

// Three ranks and seven minibatches: somebody has one more, and noise of 1 % would say who.
TEST_F(RankSpeedsTest, NoiseMovesNothing) {
  RankSpeeds speeds(3);
  const Counts first = after(4, speeds, {1.005, 1, 1.01}, 7);
  for (int i = 0; i < 100; ++i) {
    const double noise = i % 2 == 0 ? 1.01 : 0.99;
    EXPECT_EQ(update(speeds, {1 * noise, 1 / noise, 1}, 7), first);
  }
}

TEST_F(RankSpeedsTest, AHopelessRankIsTriedForAtMostOnePercentOfTheTime) {
  RankSpeeds speeds(2);
  const Seconds seconds{1, 31};  // a trial costs 30 - 3 whole minibatches of the other
  after(4, speeds, seconds, 4);
  std::size_t trials = 0;
  double time = 0;
  for (int i = 0; i < 5000; ++i) {
    const Counts counts = update(speeds, seconds, 4);
    ASSERT_LE(counts[1], 1U);
    trials += counts[1];
    time += std::max(static_cast<double>(counts[0]), 31.0 * static_cast<double>(counts[1]));
  }
  EXPECT_GE(trials, 5U);
  EXPECT_LE(time, 1.01 * 5000 * 4);
}

TEST_F(RankSpeedsTest, ARankThatHasRecoveredComesBackWithItsTrial) {
  RankSpeeds speeds(2);
  EXPECT_EQ(after(4, speeds, {1, 31}, 4), (Counts{4, 0}));
  std::size_t updates = 0;
  while (update(speeds, {1, 1}, 4)[1] == 0) ++updates;
  EXPECT_LE(updates, 700U);  // 27 / 0.01 / 4 = 675
  update(speeds, {1, 1}, 4);
  EXPECT_EQ(update(speeds, {1, 1}, 4), (Counts{2, 2}));
}

TEST_F(RankSpeedsTest, ARankWithNothingButAShortMinibatchComesBackToo) {
  RankSpeeds speeds(2);
  after(3, speeds, {1, 3}, 2);
  const Seconds work{1, 1, 0.25};
  ASSERT_EQ(speeds.assign(work), (Counts{0, 0, 1}));
  Counts owners;
  for (int i = 0; i < 1000; ++i) {
    owners = speeds.assign(work);
    std::vector<RankTime> times;
    for (const std::size_t rank : {0U, 1U}) {
      const auto whole = static_cast<double>(std::count(owners.begin(), owners.begin() + 2, rank));
      times.push_back({whole, whole, whole});
    }
    speeds.learn(times, 1);
  }
  EXPECT_EQ(owners, (Counts{0, 1, 0}));
}

TEST_F(RankSpeedsTest, ARankNeverSeenIsTriedToo) {
  RankSpeeds speeds(3);
  const std::vector<RankTime> first_two_only{{2, 2, 1}, {2, 2, 1}, {}};
  for (int i = 0; i < 3; ++i) speeds.learn(first_two_only, 1);
  Counts had(3, 0);
  for (int i = 0; i < 20; ++i) {
    const Counts counts = update(speeds, {2, 2, 0.5}, 2);
    for (std::size_t rank = 0; rank < 3; ++rank) had[rank] += counts[rank];
  }
  EXPECT_GT(had[2], 0U);
  EXPECT_EQ(update(speeds, {2, 2, 0.5}, 2), (Counts{0, 0, 2}));
}

// Of many idle ranks a hopeless one does not stand in the way of the others.
TEST_F(RankSpeedsTest, EveryIdleRankHasItsTurn) {
  RankSpeeds speeds(4);
  after(4, speeds, {1, 500, 1, 1}, 4);
  Counts had(4, 0);
  for (int i = 0; i < 200; ++i) {
    const Counts counts = update(speeds, {1, 500, 1, 1}, 1);
    for (std::size_t rank = 0; rank < 4; ++rank) had[rank] += counts[rank];
  }
  EXPECT_EQ(had[1], 0U);
  EXPECT_GT(had[2], 0U);
  EXPECT_GT(had[3], 0U);
}

}  // namespace
}  // namespace rubato::runtime
