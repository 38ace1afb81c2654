#include "app/job_processes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace rubato::app {
namespace {

// `sleep` with the given words in its environment, until the end of the test.
class Sleeper {
 public:
  Sleeper(const std::string& mark, bool is_rank, const std::string& program = "sleep")
      : pid_(::fork()) {
    if (pid_ != 0) return;
    ::setenv(job_mark_variable, mark.c_str(), 1);
    if (is_rank) ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    ::execlp(program.c_str(), "sleep", "60", nullptr);
    ::_exit(127);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

std::vector<JobProcess> found_within_a_second(const std::string& mark, std::size_t count) {
  std::vector<JobProcess> found;
  for (int attempt = 0; attempt < 100 && found.size() < count; ++attempt) {
    found = find_job_processes(mark);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return found;
}

TEST(JobProcesses, AreThoseWithTheWholeMark) {
  const std::string mark = "job-processes-test-" + std::to_string(::getpid());
  const Sleeper launcher(mark, /*is_rank=*/false);
  const Sleeper rank(mark, /*is_rank=*/true);
  const Sleeper stranger(mark + "1", /*is_rank=*/true);
  ASSERT_EQ(found_within_a_second(mark + "1", 1).size(), 1U);
  auto found = found_within_a_second(mark, 2);
  ASSERT_EQ(found.size(), 2U);
  if (found[0].is_rank) std::swap(found[0], found[1]);
  EXPECT_EQ(found[0].pid, launcher.pid());
  EXPECT_FALSE(found[0].is_rank);
  EXPECT_EQ(found[1].pid, rank.pid());
  EXPECT_TRUE(found[1].is_rank);
  ::kill(rank.pid(), SIGKILL);
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(rank.pid()), &end, WEXITED | WNOWAIT);
  EXPECT_EQ(find_job_processes(mark).size(), 1U) << "a zombie is no process of the job";
}

TEST(JobProcesses, IncludeMpirunBehindAScript) {
  const std::string mark = "find-mpirun-test-" + std::to_string(::getpid());
  const std::string mpirun = "/tmp/" + mark + "/mpirun";
  ASSERT_EQ(::system(("mkdir /tmp/" + mark + " && cp $(command -v sleep) " + mpirun).c_str()), 0);
  const Sleeper script(mark, /*is_rank=*/false);
  ASSERT_EQ(found_within_a_second(mark, 1).size(), 1U);
  EXPECT_EQ(find_mpirun(find_job_processes(mark), script.pid()), script.pid())
      << "there is no mpirun";
  const Sleeper started(mark, /*is_rank=*/false, mpirun);
  ASSERT_EQ(found_within_a_second(mark, 2).size(), 2U);
  EXPECT_EQ(find_mpirun(find_job_processes(mark), script.pid()), started.pid());
  ::system(("rm -r /tmp/" + mark).c_str());
}

TEST(JobProcesses, ListenToASignalOnceTheyHaveAHandler) {
  EXPECT_FALSE(listens_to(::getpid(), SIGUSR1));
  const auto before = ::signal(SIGUSR1, [](int) {});
  EXPECT_TRUE(listens_to(::getpid(), SIGUSR1));
  EXPECT_FALSE(listens_to(::getpid(), SIGUSR2));
  ::signal(SIGUSR1, SIG_IGN);
  EXPECT_TRUE(listens_to(::getpid(), SIGUSR1));
  ::signal(SIGUSR1, before);
  sigset_t usr1, former;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &usr1, &former);
  EXPECT_FALSE(listens_to(::getpid(), SIGUSR1));
  ::sigprocmask(SIG_SETMASK, &former, nullptr);
  const Sleeper sleeper("none", /*is_rank=*/false);
  EXPECT_FALSE(listens_to(sleeper.pid(), SIGUSR1));
  EXPECT_FALSE(listens_to(-1, SIGUSR1));
}

}  // namespace
}  // namespace rubato::app
