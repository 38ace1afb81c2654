// The rank that is named, in windows whose times are known.
#include "runtime/straggler.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace rubato::runtime {
namespace {

// Ranks that compute two minibatches an update, each in its own time.
class StragglerTest : public testing::Test {
 protected:
  // What is found after so many updates in which rank i takes seconds[i] for a minibatch.
  std::optional<Straggler> after(std::uint64_t updates, const std::vector<double>& seconds,
                                 double duration = 10) {
    if (pulses.empty()) {
      pulses.resize(seconds.size());
      EXPECT_FALSE(search.look(pulses, time));
    }
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      pulses[i].update += updates;
      pulses[i].minibatches += 2 * updates;
      pulses[i].computing_seconds += 2 * static_cast<double>(updates) * seconds[i];
    }
    time += duration;
    return search.look(pulses, time);
  }
  StragglerSearch search;
  std::vector<Pulse> pulses;
  double time = 100;
};

TEST_F(StragglerTest, ARankThatTakesTwiceAsLongIsNamedAfterTwentyUpdates) {
  EXPECT_FALSE(after(19, {0.1, 0.1, 0.2, 0.1}));
  const auto found = after(1, {0.1, 0.1, 0.2, 0.1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->node_rank, 2U);
  EXPECT_NEAR(found->ratio, 2, 1e-12);
  EXPECT_EQ(found->updates, 20U);
}

TEST_F(StragglerTest, OfTwoRanksEachIsComparedWithTheOther) {
  EXPECT_FALSE(after(20, {0.1, 0.149}));
  EXPECT_EQ(after(20, {0.1, 0.151}).value().node_rank, 1U);
}

TEST_F(StragglerTest, ASlowRankIsToldOnceUntilItRecovers) {
  EXPECT_TRUE(after(20, {0.3, 0.1, 0.1}));
  EXPECT_FALSE(after(20, {0.3, 0.1, 0.1}));
  EXPECT_FALSE(after(20, {0.13, 0.1, 0.1}));
  EXPECT_FALSE(after(20, {0.3, 0.1, 0.1}));
  EXPECT_FALSE(after(20, {0.12, 0.1, 0.1}));
  EXPECT_TRUE(after(20, {0.3, 0.1, 0.1}));
}

TEST_F(StragglerTest, TheSlowestIsNamedFirst) {
  EXPECT_EQ(after(20, {0.1, 0.2, 0.1, 0.3, 0.1}).value().node_rank, 3U);
  EXPECT_EQ(after(20, {0.1, 0.2, 0.1, 0.3, 0.1}).value().node_rank, 1U);
}

TEST_F(StragglerTest, AWindowHasTwentyUpdatesAndASecond) {
  EXPECT_FALSE(after(500, {0.1, 0.2}, 0.5));
  const auto found = after(500, {0.1, 0.2}, 0.5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->updates, 1000U);
}

TEST_F(StragglerTest, MoreMinibatchesAreNotMoreTimeForEach) {
  pulses.resize(2);
  EXPECT_FALSE(search.look(pulses, 0));
  pulses[0] = {.update = 20, .minibatches = 20, .computing_seconds = 2};
  pulses[1] = {.update = 20, .minibatches = 60, .computing_seconds = 6};
  EXPECT_FALSE(search.look(pulses, 5));
}

TEST_F(StragglerTest, ARankWithoutWorkSlowsNobody) {
  pulses.resize(2);
  EXPECT_FALSE(search.look(pulses, 0));
  pulses[0] = {.update = 20, .minibatches = 20, .computing_seconds = 2};
  pulses[1].update = 20;
  EXPECT_FALSE(search.look(pulses, 5));
}

TEST(RatiosToOthers, AreToTheLowerMedianOfThoseThatTakeTime) {
  using Seconds = std::vector<double>;
  EXPECT_EQ(ratios_to_others(Seconds{2, 1, 0, 4}), (Seconds{2, 0.5, 0, 4}));
  EXPECT_EQ(ratios_to_others(Seconds{3, 1}), (Seconds{3, 1.0 / 3}));
  EXPECT_EQ(ratios_to_others(Seconds{3, 0}), (Seconds{1, 1}));
  EXPECT_EQ(ratios_to_others(Seconds{3}), (Seconds{1}));
  EXPECT_EQ(ratios_to_others(Seconds{}), Seconds{});
}

TEST_F(StragglerTest, ARankAloneIsNoStraggler) { EXPECT_FALSE(after(100, {0.5})); }

}  // namespace
}  // namespace rubato::runtime
