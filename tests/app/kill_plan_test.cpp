#include "app/kill_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

namespace rubato::app {
namespace {

KillDraw forty_of_400() { return {.kills = 40, .seed = 9, .ranks = {1, 2, 3, 5}, .updates = 400}; }

TEST(KillPlan, IsTheSameForTheSameSeed) {
  auto draw = forty_of_400();
  const auto first = draw_kills(draw);
  EXPECT_EQ(draw_kills(draw), first);
  draw.seed = 10;
  EXPECT_NE(draw_kills(draw), first);
}

TEST(KillPlan, HasAKillInEveryStretchOfTheRun) {
  const auto kills = draw_kills(forty_of_400());
  ASSERT_EQ(kills.size(), 40U);
  for (std::size_t i = 0; i < kills.size(); ++i) {
    EXPECT_GT(kills[i].update, 10 * i);
    EXPECT_LE(kills[i].update, 10 * (i + 1));
  }
}

TEST(KillPlan, DealsWaysAndRanksEqually) {
  std::map<KillWay, int> ways;
  std::map<std::uint64_t, int> ranks;
  std::set<KillMoment> moments;
  for (const auto& kill : draw_kills(forty_of_400())) {
    ++ways[kill.way];
    ++ranks[kill.ranks];
    moments.insert(kill.moment);
  }
  EXPECT_EQ(ways, (std::map<KillWay, int>{{KillWay::rank, 10},
                                          {KillWay::launcher, 10},
                                          {KillWay::stop, 10},
                                          {KillWay::terminate, 10}}));
  EXPECT_EQ(ranks, (std::map<std::uint64_t, int>{{1, 10}, {2, 10}, {3, 10}, {5, 10}}));
  EXPECT_EQ(moments.size(), 3U);
}

TEST(KillPlan, LeavesAnUpdateToEveryKillToCome) {
  for (const bool is_fast : {false, true}) {
    const auto kills = draw_kills({.kills = 5, .ranks = {2}, .updates = 6, .is_fast = is_fast});
    for (std::size_t i = 0; i < kills.size(); ++i) {
      EXPECT_LE(kills[i].stop_update, i + 1);
      EXPECT_LE(kills[i].update, kills[i].stop_update);
      EXPECT_GE(kills[i].update, 1U);
    }
  }
}

TEST(KillPlan, StopsAFastRunAtTheEndOfEveryStretch) {
  auto draw = forty_of_400();
  draw.is_fast = true;
  const auto kills = draw_kills(draw);
  int planned = 0;
  for (std::size_t i = 0; i + 1 < kills.size(); ++i) {
    const bool is_planned = kills[i].way == KillWay::planned;
    planned += is_planned ? 1 : 0;
    EXPECT_EQ(kills[i].stop_update, is_planned ? kills[i].update : 10 * (i + 1)) << i;
  }
  EXPECT_GT(planned, 6);
}

TEST(KillPlan, StopsASlowerRunTwoStretchesLater) {
  const auto kills = draw_kills(forty_of_400());
  for (std::size_t i = 0; i + 3 < kills.size(); ++i) {
    EXPECT_EQ(kills[i].stop_update, 10 * (i + 3)) << i;
  }
}

TEST(KillPlan, NeverStopsAStartThatIsDeaf) {
  for (const auto& kill : draw_kills({.kills = 99, .seed = 3, .updates = 400, .is_fast = true})) {
    if (kill.moment != KillMoment::at_start) continue;
    EXPECT_NE(kill.way, KillWay::stop);
    EXPECT_NE(kill.way, KillWay::planned);
    EXPECT_LT(kill.delay_seconds, 0.8);
  }
}

TEST(KillPlan, NeedsMoreUpdatesThanKills) {
  EXPECT_NO_THROW(draw_kills({.kills = 4, .updates = 5}));
  EXPECT_THROW(draw_kills({.kills = 5, .updates = 5}), std::invalid_argument);
}

TEST(KillPlan, NamesWhatItDoes) {
  EXPECT_EQ(name_of(KillWay::rank), "SIGKILL to a rank");
  EXPECT_EQ(name_of(KillWay::planned), "--stop-after-update");
  EXPECT_EQ(name_of(KillMoment::while_saving), "while saving");
  EXPECT_EQ(name_of(KillMoment::after_update), "");
}

}  // namespace
}  // namespace rubato::app
