// With a shell in mpirun's place, and a metrics file that stands still.
#include "app/kill_job.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <string>

#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

class KillJobTest : public testing::Test {
 protected:
  // The script gets "-q -n RANKS COMMAND" and finds the run's directory in $0.
  KilledJob kill(const std::string& script, const Kill& kill) {
    const std::string run = directory_.path().string();
    MetricsFollower follower(directory_.path(), 0);
    MpiJob job({.launcher = {"sh", "-c", script, run}, .ranks = kill.ranks, .command = {"true"}});
    return kill_job(job, kill, follower, directory_.path(), /*patience=*/5, signals_);
  }

  TemporaryDirectory directory_;
  StopSignals signals_;
};

const std::string first_line = R"(echo '{"type":"context"}' > "$0/metrics.jsonl"; )";

std::string line_of_update(int number) {
  return R"(echo '{"type":"update","update":)" + std::to_string(number) +
         R"(}' >> "$0/metrics.jsonl"; )";
}

TEST_F(KillJobTest, KillsTheLauncherAfterItsUpdate) {
  const auto killed = kill(first_line + line_of_update(1) + "sleep 0.2; touch $0/second; " +
                               line_of_update(2) + "sleep 60",
                           {.way = KillWay::launcher, .update = 2, .stop_update = 9});
  EXPECT_EQ(killed.end.exit_code, 128 + SIGKILL);
  EXPECT_FALSE(killed.has_stopped_first);
  EXPECT_FALSE(killed.is_stuck);
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "second"));
}

TEST_F(KillJobTest, SendsWhatItIsAskedTo) {
  const std::string tell = "trap 'exit 75' USR1; trap 'exit 1' TERM; " + first_line +
                           line_of_update(1) + "while :; do sleep 0.05; done";
  EXPECT_EQ(kill(tell, {.way = KillWay::stop}).end.exit_code, 75);
  EXPECT_EQ(kill(tell, {.way = KillWay::terminate}).end.exit_code, 1);
}

TEST_F(KillJobTest, KillsOneRank) {
  const auto killed =
      kill(first_line + line_of_update(1) + "OMPI_COMM_WORLD_RANK=0 sleep 60 & wait $!; exit $?",
           {.way = KillWay::rank});
  EXPECT_EQ(killed.end.exit_code, 128 + SIGKILL);
}

TEST_F(KillJobTest, WaitsForACheckpointToBeBegun) {
  const auto killed = kill(first_line + line_of_update(1) + line_of_update(2) +
                               "sleep 0.2; mkdir $0/checkpoints; touch $0/checkpoints/.tmp-1; "
                               "sleep 60",
                           {.way = KillWay::launcher, .moment = KillMoment::while_saving});
  EXPECT_EQ(killed.end.exit_code, 128 + SIGKILL);
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "checkpoints"));
}

TEST_F(KillJobTest, DoesNotWaitForACheckpointForever) {
  const auto killed = kill(first_line + line_of_update(6) + "sleep 60",
                           {.way = KillWay::launcher, .moment = KillMoment::while_saving});
  EXPECT_EQ(killed.end.exit_code, 128 + SIGKILL);
}

TEST_F(KillJobTest, AtTheStartNeedsNoUpdate) {
  const auto killed = kill("sleep 60", {.way = KillWay::launcher,
                                        .moment = KillMoment::at_start,
                                        .update = 7,
                                        .delay_seconds = 0.05});
  EXPECT_EQ(killed.end.exit_code, 128 + SIGKILL);
}

TEST_F(KillJobTest, IsBrokenOffByASignalBeforeTheKill) {
  ::raise(SIGINT);
  EXPECT_THROW(kill("sleep 60", {.way = KillWay::launcher}), Interrupted);
}

TEST_F(KillJobTest, IsBrokenOffByASignalAfterTheKill) {
  const std::string deaf =
      "trap '' USR1; " + first_line + line_of_update(1) + "sleep 0.3; kill -INT $PPID; sleep 60";
  EXPECT_THROW(kill(deaf, {.way = KillWay::stop}), Interrupted);
}

TEST_F(KillJobTest, LeavesAPlannedStopAloneAndSeesOneThatCameFirst) {
  const auto planned = kill(first_line + line_of_update(1) + "exit 75", {.way = KillWay::planned});
  EXPECT_EQ(planned.end.exit_code, 75);
  EXPECT_FALSE(planned.has_stopped_first);
  EXPECT_TRUE(kill("exit 75", {.way = KillWay::rank}).has_stopped_first);
}

}  // namespace
}  // namespace rubato::app
