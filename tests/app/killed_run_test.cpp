// What a kill must leave. KilledRun itself is at work in command_prove_test.py.
#include "app/killed_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;

// A start from update 10 that came to update 17; the newest checkpoint is of update 15.
KillRecord record(KillWay way, int exit_code) {
  return {.kill = {.way = way, .update = 17, .stop_update = 90},
          .expected_from = 10,
          .resumed_from = 10,
          .at_update = 17,
          .kept_update = 15,
          .exit_code = exit_code};
}

std::string broken(const KillRecord& record) { return broken_promise(record, true); }

TEST(KilledRun, KnowsTheExitCodeOfEveryKill) {
  for (const auto way : {KillWay::rank, KillWay::launcher}) {
    EXPECT_EQ(broken(record(way, 137)), "");
    EXPECT_EQ(broken(record(way, 75)), "exit code 75, expected 137");
    EXPECT_EQ(broken(record(way, 0)), "exit code 0, expected 137");
  }
  EXPECT_EQ(broken(record(KillWay::terminate, 1)), "");
  EXPECT_EQ(broken(record(KillWay::terminate, 143)), "exit code 143, expected 1");
  EXPECT_EQ(broken(record(KillWay::stop, 137)), "exit code 137, expected 75");
  EXPECT_EQ(broken(record(KillWay::planned, 0)), "exit code 0, expected 75");
}

TEST(KilledRun, KnowsWhatASignalAtTheStartAndAStopBeforeItDo) {
  auto early = record(KillWay::terminate, 143);
  early.kill.moment = KillMoment::at_start;
  EXPECT_EQ(broken(early), "");
  auto slow = record(KillWay::terminate, 137);
  EXPECT_EQ(broken(slow), "exit code 137, expected 1");
  slow.had_dead_ranks = true;
  EXPECT_EQ(broken(slow), "") << "ranks of another host lived on, and mpirun was ended";
  auto stopped = record(KillWay::rank, 75);
  stopped.kept_update = 17;
  stopped.kill.stop_update = 17;
  EXPECT_EQ(broken(stopped), "") << "the stop came while the signal was on its way";
  stopped.kill.stop_update = 90;
  stopped.has_stopped_first = true;
  EXPECT_EQ(broken(stopped), "");
}

TEST(KilledRun, LosesNothingInAGracefulStop) {
  auto stopped = record(KillWay::stop, 75);
  EXPECT_EQ(broken(stopped),
            "it stopped after update 17, but its newest checkpoint is of update 15");
  stopped.kept_update = 17;
  EXPECT_EQ(broken(stopped), "");
  EXPECT_EQ(stopped.lost_updates(), 0U);
  EXPECT_EQ(record(KillWay::rank, 137).lost_updates(), 2U);
}

TEST(KilledRun, KeepsCheckpointsAndGoesOnFromTheNewest) {
  auto lost = record(KillWay::rank, 137);
  lost.kept_update = 5;
  EXPECT_EQ(broken(lost),
            "the checkpoint of update 10 is lost; the newest good one is of update 5");
  lost.kept_update.reset();
  EXPECT_EQ(broken(lost), "the checkpoint of update 10 is lost; the newest good one is of none");
  auto older = record(KillWay::rank, 137);
  older.resumed_from = 5;
  EXPECT_EQ(broken(older),
            "it went on from update 5, not from the newest checkpoint, of update 10");
  auto damaged = record(KillWay::rank, 137);
  damaged.damaged = {"ckpt-17.h5: does not match its checksum"};
  EXPECT_EQ(broken(damaged), "ckpt-17.h5: does not match its checksum");
}

TEST(KilledRun, MayHaveNoCheckpointBeforeTheFirst) {
  KillRecord first{.kill = {.way = KillWay::rank, .stop_update = 90}, .exit_code = 137};
  EXPECT_EQ(broken_promise(first, false), "");
  EXPECT_EQ(broken_promise(first, true), "no checkpoint is left");
}

TEST(KilledRun, EndsWithinAMinute) {
  auto stuck = record(KillWay::stop, 137);
  stuck.is_stuck = true;
  EXPECT_EQ(broken(stuck), "the job did not end within a minute");
}

TEST(KilledRun, GivesTheTrainingItsDirectoryAndMoreOptions) {
  const Training training{.launcher = {"mpirun", "-H", "a"}, .command = {"rubato", "train"}};
  const auto plan = job_plan(training, 3, "runs/x", {"--resume"});
  EXPECT_EQ(plan.ranks, 3U);
  EXPECT_THAT(plan.launcher, ElementsAre("mpirun", "-H", "a"));
  EXPECT_THAT(plan.command, ElementsAre("rubato", "train", "--out", "runs/x", "--resume"));
}

TEST(KilledRun, RunsAJobWithItsWordsInTheLog) {
  const TemporaryDirectory directory;
  const auto log = directory.path() / "log";
  StopSignals signals;
  EXPECT_EQ(
      run_job({.launcher = {"sh", "-c", "echo said; exit 9"}, .command = {"true"}}, log, signals),
      9);
  EXPECT_EQ(std::filesystem::file_size(log), 5U);
}

}  // namespace
}  // namespace rubato::app
