#include "app/prove_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace rubato::app {
namespace {

using testing::HasSubstr;

Proof proof() {
  Proof proof{.seed = 7, .straight_ranks = 1, .updates = 60, .last_ranks = 3};
  proof.kills = {{.kill = {.way = KillWay::rank, .ranks = 2},
                  .at_update = 17,
                  .kept_update = 15,
                  .exit_code = 137},
                 {.kill = {.way = KillWay::stop, .moment = KillMoment::while_saving, .ranks = 3},
                  .expected_from = 15,
                  .at_update = 30,
                  .kept_update = 30,
                  .exit_code = 75,
                  .seconds = 1.25}};
  proof.comparison.straight = {.updates = 60, .digest = "abc", .audit = {.run_digest = 255}};
  proof.comparison.killed = proof.comparison.straight;
  proof.comparison.update_lines = 60;
  return proof;
}

std::string verdict(const Proof& proof) {
  std::ostringstream out;
  print_verdict(out, proof);
  return out.str();
}

TEST(ProveReport, HasALineForEachKill) {
  std::ostringstream out;
  print_kill(out, 1, proof().kills[0]);
  print_kill(out, 2, proof().kills[1]);
  EXPECT_EQ(
      out.str(),
      "   1  SIGKILL to a rank                     2       0      17       2   137      0.0\n"
      "   2  SIGUSR1 to mpirun while saving        3      15      30       0    75      1.2\n");
}

TEST(ProveReport, SaysThatAStartStoppedBeforeItsKill) {
  auto record = proof().kills[1];
  record.has_stopped_first = true;
  std::ostringstream out;
  print_kill(out, 2, record);
  EXPECT_EQ(
      out.str(),
      "   2  stopped before SIGUSR1 to mpirun      3      15      30       0    75      1.2\n");
}

TEST(ProveReport, SaysHowToRepeatTheKills) {
  std::ostringstream out;
  print_straight_run(out, proof());
  EXPECT_THAT(out.str(), HasSubstr("60 updates on 1 rank,"));
  EXPECT_THAT(out.str(), HasSubstr("--seed 7 draws the same kills"));
}

TEST(ProveReport, CountsAndSaysThatTheRunsAreEqual) {
  const auto text = verdict(proof());
  EXPECT_THAT(text, HasSubstr("Kills: 1 x SIGKILL to a rank, 1 x SIGUSR1 to mpirun.\n"));
  EXPECT_THAT(text, HasSubstr("Moments: 1 x after an update, 1 x while saving.\n"));
  EXPECT_THAT(text, HasSubstr("Starts by ranks: 1 x 2, 2 x 3.\n"));
  EXPECT_THAT(text, HasSubstr("Updates run twice: 2.\n"));
  EXPECT_THAT(text, HasSubstr("state abc\n            samples ff, update 60\n"));
  EXPECT_THAT(text, HasSubstr("\nEqual: the state, the samples used, and the lines of 60 updates"));
}

TEST(ProveReport, SaysWhatDiffers) {
  auto differing = proof();
  differing.comparison.first_difference = "update 3: loss";
  EXPECT_FALSE(differing.is_equal());
  EXPECT_THAT(verdict(differing), HasSubstr("NOT EQUAL: first difference: update 3: loss\n"));
  differing.broken_promise = "kill 2: exit code 0, expected 75";
  EXPECT_THAT(verdict(differing), HasSubstr("NOT EQUAL: kill 2: exit code 0, expected 75\n"));
}

TEST(ProveReport, IsOneJsonDocument) {
  std::ostringstream out;
  print_as_json(out, proof());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["equal"], true);
  EXPECT_EQ(json["first_difference"], "");
  EXPECT_EQ(json["updates_run_twice"], 2);
  EXPECT_EQ(json["straight"]["state_digest"], "abc");
  EXPECT_EQ(json["killed"]["sample_audit"], "ff");
  ASSERT_EQ(json["kills"].size(), 2U);
  EXPECT_EQ(json["kills"][1]["way"], "SIGUSR1 to mpirun");
  EXPECT_EQ(json["kills"][1]["kept_update"], 30);
}

}  // namespace
}  // namespace rubato::app
