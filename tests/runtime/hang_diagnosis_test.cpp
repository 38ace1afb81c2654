// Who is to blame, in cases where one can say it.
#include "runtime/hang_diagnosis.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rubato::runtime {
namespace {

NodeSight node_of(std::vector<RankSight> ranks, std::vector<std::string> others = {}) {
  return {"alpha", std::move(others), std::move(ranks)};
}

std::string sentence(const NodeSight& node) { return hang_suspicion(node).sentence; }

TEST(HangDiagnosis, WhoIsInAnEarlierPhaseIsToBlameNotWhoWaitsInTheSum) {
  const NodeSight node = node_of({{4, 1, 12, Phase::summing, 61.2},
                                  {5, 2, 12, Phase::computing, 60.4},
                                  {6, 3, 12, Phase::summing, 70}});
  EXPECT_EQ(sentence(node), "rank 5 on alpha has not moved for 60 s while computing (update 12)");
  EXPECT_EQ(hang_suspicion(node).seconds, 60.4);
  EXPECT_FALSE(hang_suspicion(node).is_elsewhere);
}

TEST(HangDiagnosis, AnEarlierUpdateIsFurtherBehindThanAnEarlierPhase) {
  EXPECT_EQ(
      sentence(node_of({{0, 1, 13, Phase::loading_data, 60}, {1, 2, 12, Phase::updating, 60}})),
      "rank 1 on alpha has not moved for 60 s while updating weights (update 12)");
}

TEST(HangDiagnosis, WhoWaitsAfterTheUpdateOrTheEvaluationIsNotToBlame) {
  EXPECT_EQ(sentence(node_of({{0, 1, 12, Phase::waiting, 60}, {1, 2, 12, Phase::updating, 60}})),
            "rank 1 on alpha has not moved for 60 s while updating weights (update 12)");
  EXPECT_EQ(sentence(node_of({{0, 1, 12, Phase::waiting, 60},
                              {1, 2, 12, Phase::evaluating, 60},
                              {2, 3, 12, Phase::waiting, 60}})),
            "rank 1 on alpha has not moved for 60 s while evaluating (update 12)");
}

TEST(HangDiagnosis, WhoIsLeftBehindInAnEarlierSumIsToBlame) {
  EXPECT_EQ(sentence(node_of({{0, 1, 11, Phase::summing, 60}, {1, 2, 12, Phase::computing, 60}})),
            "rank 0 on alpha has not moved for 60 s while summing over ranks (update 11)");
}

TEST(HangDiagnosis, AStoppedProcessIsToBlameWhereverItIs) {
  EXPECT_EQ(sentence(node_of({{0, 1, 12, Phase::summing, 60, 'S'},
                              {1, 77, 12, Phase::summing, 61, 'T'},
                              {2, 3, 12, Phase::computing, 59, 'R'}})),
            "rank 1 on alpha has not moved for 61 s while summing over ranks (update 12); process "
            "77 is stopped (SIGSTOP or a debugger)");
}

TEST(HangDiagnosis, OtherStatesOfTheProcessAreTold) {
  const auto with_state = [](char state) {
    return sentence(node_of({{0, 77, 1, Phase::loading_data, 5, state}}));
  };
  EXPECT_TRUE(with_state('D').ends_with("; process 77 waits for a disk or a file server"));
  EXPECT_TRUE(with_state('Z').ends_with("; process 77 is dead"));
  EXPECT_TRUE(with_state('S').ends_with("(update 1)"));
  EXPECT_TRUE(with_state('?').ends_with("(update 1)"));
}

TEST(HangDiagnosis, EquallyLateRanksAreNamedTogetherAndThoseThatMoveAreNot) {
  EXPECT_EQ(sentence(node_of({{0, 1, 12, Phase::updating, 60},
                              {1, 2, 12, Phase::updating, 60.5},
                              {2, 3, 12, Phase::updating, 3},
                              {3, 4, 12, Phase::updating, 61}})),
            "ranks 0, 1 and 3 on alpha have not moved for 61 s while updating weights (update 12)");
}

TEST(HangDiagnosis, IfAllOfAHostWaitTheCauseIsOnAnother) {
  const NodeSight node =
      node_of({{0, 1, 12, Phase::summing, 62}, {1, 2, 12, Phase::summing, 60}}, {"beta", "gamma"});
  EXPECT_EQ(sentence(node),
            "ranks 0 and 1 on alpha have waited for 60 s while summing over ranks (update 12): a "
            "rank on another host is stuck or cut off (beta, gamma)");
  EXPECT_TRUE(hang_suspicion(node).is_elsewhere);
  EXPECT_EQ(hang_suspicion(node).seconds, 60);
}

TEST(HangDiagnosis, WhoOnlyWaitsIsNotSaidToWaitWhileWaiting) {
  EXPECT_EQ(
      sentence(node_of({{0, 1, 12, Phase::waiting, 62}, {1, 2, 12, Phase::summing, 60}}, {"beta"})),
      "ranks 0 and 1 on alpha have waited for 60 s (update 12): a rank on another host is "
      "stuck or cut off (beta)");
}

TEST(HangDiagnosis, ManyHostsAreNotAllNamed) {
  std::vector<std::string> hosts;
  for (int i = 0; i < 11; ++i) hosts.push_back(std::string(1, static_cast<char>('a' + i)));
  EXPECT_TRUE(sentence(node_of({{0, 1, 1, Phase::summing, 9}}, hosts))
                  .ends_with("(a, b, c, d, e, f, g, h and 3 more)"));
}

TEST(HangDiagnosis, OnOneHostTheyWaitForEachOther) {
  const NodeSight node = node_of({{0, 1, 7, Phase::summing, 60}, {1, 2, 7, Phase::summing, 60}});
  EXPECT_EQ(sentence(node),
            "ranks 0 and 1 on alpha have waited for 60 s while summing over ranks (update 7), each "
            "for the others");
  EXPECT_FALSE(hang_suspicion(node).is_elsewhere);
}

}  // namespace
}  // namespace rubato::runtime
