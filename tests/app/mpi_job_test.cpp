// Mostly with a shell in mpirun's place: it gets "-q -n RANKS COMMAND..." as $1, $2, ... A rank is
// what has a rank's number in its environment.
#include "app/mpi_job.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "app/job_processes.hpp"

namespace rubato::app {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

MpiJobPlan shell(const std::string& script, std::uint64_t ranks = 1) {
  return {.launcher = {"sh", "-c", script, "stub"}, .ranks = ranks, .command = {"true"}};
}

const std::string rank_0 = "OMPI_COMM_WORLD_RANK=0 ";
const std::string rank_1 = "OMPI_COMM_WORLD_RANK=1 ";

std::vector<pid_t> wait_for_ranks(MpiJob& job, std::size_t count) {
  for (int attempt = 0; attempt < 100 && job.live_ranks().size() < count; ++attempt) {
    job.wait_for(50ms);
  }
  return job.live_ranks();
}

JobEnd end_of(MpiJob& job) { return job.wait_for(20s).value_or(JobEnd{.exit_code = -1}); }

TEST(LaunchWords, SayHowManyRanksOfWhat) {
  const MpiJobPlan plan{.launcher = {"mpirun", "-H", "a,b"}, .ranks = 3, .command = {"x", "--y"}};
  EXPECT_EQ(launch_words(plan, 3), (Words{"mpirun", "-H", "a,b", "-q", "-n", "3", "x", "--y"}));
  EXPECT_EQ(launch_words(plan, 2)[6], "--oversubscribe");
}

TEST(MpiJob, PassesTheExitCodeOn) {
  MpiJob job(shell("[ \"$*\" = '-q -n 1 true' ] && exit 75"));
  const auto end = end_of(job);
  EXPECT_EQ(end.exit_code, 75);
  EXPECT_TRUE(end.has_ended_alone);
  EXPECT_FALSE(end.had_dead_ranks);
  EXPECT_EQ(end_of(job).exit_code, 75) << "asked again";
}

TEST(MpiJob, TellsTheSignalThatEndedTheLauncher) {
  MpiJob job(shell("kill -SEGV $$"));
  EXPECT_EQ(end_of(job).exit_code, 128 + SIGSEGV);
}

TEST(MpiJob, NamesALauncherThatCannotBeStarted) {
  try {
    MpiJob job({.launcher = {"/nowhere/mpirun"}, .ranks = 1, .command = {"true"}});
    FAIL() << "expected an exception";
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "cannot start /nowhere/mpirun: No such file or directory");
  }
}

TEST(MpiJob, ComesBackInTimeOrWhenWoken) {
  MpiJob job(shell("sleep 60"));
  EXPECT_FALSE(job.wait_for(30ms));
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_EQ(::write(pipe[1], "x", 1), 1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(job.wait_for(20s, pipe[0]));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(MpiJob, KillsTheSurvivorsOfADeadRank) {
  MpiJob job(shell(rank_0 + "sleep 60 & " + rank_1 + "sleep 60 & wait; exit 9", 2));
  const auto ranks = wait_for_ranks(job, 2);
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[0], SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  const auto end = end_of(job);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(end.exit_code, 9);
  EXPECT_TRUE(end.had_dead_ranks);
  EXPECT_TRUE(end.has_ended_alone);
  EXPECT_TRUE(job.live_ranks().empty());
}

TEST(MpiJob, LetsRanksEndTogether) {
  MpiJob job(shell(rank_0 + "sleep 2 & " + rank_1 + "sleep 2 & wait; exit 75", 2));
  ASSERT_EQ(wait_for_ranks(job, 2).size(), 2U);
  const auto end = end_of(job);
  EXPECT_EQ(end.exit_code, 75);
  EXPECT_FALSE(end.had_dead_ranks);
}

MpiJobPlan leaving_one_by_one() {
  return shell(rank_0 + "sleep 2 & " + rank_1 + "sleep 4 & wait $!; exit $?", 2);
}

TEST(MpiJob, WaitsForRanksOfARunThatSaysItEnds) {
  auto plan = leaving_one_by_one();
  plan.is_ending = [] { return true; };
  MpiJob job(plan);
  ASSERT_EQ(wait_for_ranks(job, 2).size(), 2U);
  const auto end = end_of(job);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_FALSE(end.had_dead_ranks);
}

TEST(MpiJob, WaitsForNoRankOfARunThatDoesNot) {
  MpiJob job(leaving_one_by_one());
  ASSERT_EQ(wait_for_ranks(job, 2).size(), 2U);
  const auto end = end_of(job);
  EXPECT_NE(end.exit_code, 0);
  EXPECT_TRUE(end.had_dead_ranks);
}

TEST(MpiJob, AsksToStopOnceAllListen) {
  const std::string late = "sh -c 'sleep 0.5; trap \"exit 0\" USR1; while :; do sleep 0.05; done'";
  MpiJob job(shell(rank_0 + late + " & trap 'kill -USR1 $!; wait; exit 75' USR1; wait"));
  ASSERT_EQ(wait_for_ranks(job, 1).size(), 1U);
  job.request_stop();
  EXPECT_FALSE(job.wait_for(200ms)) << "the signal would have killed the rank";
  EXPECT_EQ(end_of(job).exit_code, 75);
}

TEST(MpiJob, KillsEveryProcessThatCarriesItsMark) {
  std::vector<pid_t> ranks;
  {
    MpiJob job(shell(rank_0 + "setsid sleep 60 & " + rank_1 + "sleep 60 & trap '' TERM; wait", 2));
    ranks = wait_for_ranks(job, 2);
    ASSERT_EQ(ranks.size(), 2U);
  }
  for (const pid_t pid : ranks) {
    const auto handle = ProcessHandle::open(pid);
    EXPECT_TRUE(!handle || handle->has_ended());
  }
}

// -- with the real one

std::string session_of(pid_t launcher) {
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::temp_directory_path(),
           std::filesystem::directory_options::skip_permission_denied)) {
    const auto session = entry.path() / ("pid." + std::to_string(launcher));
    std::error_code error;
    if (std::filesystem::exists(session, error)) return session.string();
  }
  return "";
}

MpiJobPlan sleepers() {
  return {.launcher = {RUBATO_MPIEXEC}, .ranks = 2, .command = {"sleep", "60"}};
}

TEST(MpiJob, MpirunEndsSoonAfterADeadRank) {
  MpiJob job(sleepers());
  const auto ranks = wait_for_ranks(job, 2);
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGKILL);
  const auto end = end_of(job);
  EXPECT_EQ(end.exit_code, 128 + SIGKILL);
  EXPECT_TRUE(end.had_dead_ranks);
  EXPECT_EQ(session_of(job.pid()), "");
}

TEST(MpiJob, NothingStaysOfAnMpirunKilledBehindAScript) {
  MpiJob job(shell("\"" RUBATO_MPIEXEC "\" -q -n 2 sleep 60; exit 3", 2));
  ASSERT_EQ(wait_for_ranks(job, 2).size(), 2U);
  const pid_t mpirun = find_mpirun(find_job_processes(job.mark()), job.pid());
  ASSERT_NE(mpirun, job.pid());
  ASSERT_NE(session_of(mpirun), "");
  job.kill();
  EXPECT_EQ(session_of(mpirun), "");
}

TEST(MpiJob, NothingStaysOfAKilledMpirun) {
  MpiJob job(sleepers());
  const auto ranks = wait_for_ranks(job, 2);
  ASSERT_EQ(ranks.size(), 2U);
  ASSERT_NE(session_of(job.pid()), "");
  ::kill(job.pid(), SIGKILL);
  EXPECT_EQ(end_of(job).exit_code, 128 + SIGKILL);
  for (const pid_t pid : ranks) {
    const auto handle = ProcessHandle::open(pid);
    EXPECT_TRUE(!handle || handle->has_ended());
  }
  EXPECT_EQ(session_of(job.pid()), "");
}

}  // namespace
}  // namespace rubato::app
