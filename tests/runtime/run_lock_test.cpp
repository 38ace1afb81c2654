// One run in a directory: refused while its holder lives, taken over once it is dead.
#include "runtime/run_lock.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "collectives/host_name.hpp"
#include "runtime/errors.hpp"
#include "runtime/process_info.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Another process that holds a directory until it is killed.
class Holder {
 public:
  Holder(const std::filesystem::path& directory, LockMethod method) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const RunLock lock(directory, method);
      [[maybe_unused]] const ssize_t ignored = ::write(ends[1], "x", 1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { kill(); }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

class RunLockTest : public testing::TestWithParam<LockMethod> {
 protected:
  std::string refusal() const {
    try {
      const RunLock lock(directory.path(), GetParam());
    } catch (const OutputError& error) {
      return error.what();
    }
    return {};
  }
  // As a run would have left it that did not end well.
  void leave(const std::string& host, pid_t pid, std::uint64_t start_ticks) const {
    std::ofstream(file) << R"({"host":")" << host << R"(","pid":)" << pid << R"(,"start_ticks":)"
                        << start_ticks << R"(,"since":"2000-01-01T00:00:00Z"})" << '\n';
  }
  void make_older(std::time_t seconds) const {
    struct timespec times[2]{};
    times[0].tv_sec = times[1].tv_sec = std::time(nullptr) - seconds;
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  std::time_t age() const {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return std::time(nullptr) - status.st_mtime;
  }
  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "run.lock";
  std::uint64_t my_ticks = process_info(::getpid()).value().start_ticks;
  std::string my_host = collectives::host_name();
};
INSTANTIATE_TEST_SUITE_P(, RunLockTest, testing::Values(LockMethod::kernel, LockMethod::content),
                         [](const auto& method) {
                           return std::string(method.param == LockMethod::kernel ? "Kernel"
                                                                                 : "Content");
                         });

TEST_P(RunLockTest, IsHeldUntilItIsReleasedAndTheFileStays) {
  for (int i = 0; i < 2; ++i) {
    const RunLock lock(directory.path(), GetParam());
    EXPECT_THAT(refusal(), HasSubstr("process " + std::to_string(::getpid())));
  }
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_P(RunLockTest, ARunIsNamedWhileItLivesAndSucceededOnceItIsKilled) {
  Holder holder(directory.path(), GetParam());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr(directory.path().string() + " is in use by process " +
                              std::to_string(holder.pid()) + " on " + my_host + " since 20"),
                    HasSubstr(": stop it first, or choose another directory")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  holder.kill();
  EXPECT_EQ(refusal(), "");
}

TEST_P(RunLockTest, ARecycledProcessIdIsNotTheHolder) {
  leave(my_host, ::getpid(), my_ticks + 1);
  EXPECT_EQ(refusal(), "");
}

TEST_P(RunLockTest, ADamagedFileIsTakenOver) {
  std::ofstream(file) << "{\"host\": 17";
  EXPECT_EQ(refusal(), "");
}

TEST_P(RunLockTest, WhatIsNotARegularFileIsRefused) {
  std::filesystem::create_symlink("elsewhere", file);
  EXPECT_THAT(refusal(), HasSubstr("cannot open " + file.string()));
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_P(RunLockTest, AMissingDirectoryIsNamed) {
  EXPECT_THROW(RunLock("/nonexistent", GetParam()), OutputError);
}

using RunLockByContent = RunLockTest;
INSTANTIATE_TEST_SUITE_P(, RunLockByContent, testing::Values(LockMethod::content));

TEST_P(RunLockByContent, AProcessOfThisHostCountsWhileItLives) {
  leave(my_host, ::getpid(), my_ticks);
  make_older(3600);
  EXPECT_THAT(refusal(), HasSubstr("since 2000-01-01T00:00:00Z"));
}

TEST_P(RunLockByContent, AnotherHostsProcessCountsWhileTheFileIsYoung) {
  leave("elsewhere", 1, 1);
  make_older(50);
  EXPECT_THAT(refusal(), HasSubstr("process 1 on elsewhere"));
  make_older(70);
  EXPECT_EQ(refusal(), "");
}

// The kernel knows who lives, and needs no thread that shows it.
TEST_P(RunLockTest, TheHolderKeepsTheFileYoungWhereItsContentDecides) {
  using namespace std::chrono_literals;
  const bool decides = GetParam() == LockMethod::content;
  {
    const RunLock lock(directory.path(), GetParam(), 5ms);
    for (int i = 0; i < 2; ++i) {
      make_older(3600);
      const auto end = std::chrono::steady_clock::now() + (decides ? 20s : 50ms);
      while (age() > 60 && std::chrono::steady_clock::now() < end) ::usleep(1000);
      EXPECT_EQ(age() < 60, decides);
    }
  }
  make_older(3600);
  ::usleep(50'000);
  EXPECT_GT(age(), 60);
}

TEST(RequireUnused, NamesTheRunThatHoldsTheLock) {
  const TemporaryDirectory directory;
  const auto refusal = [&] {
    try {
      require_unused(directory.path());
    } catch (const OutputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(), "");
  {
    const RunLock lock(directory.path());
    EXPECT_THAT(refusal(), HasSubstr(" is in use by process " + std::to_string(::getpid()) +
                                     " on " + collectives::host_name() + " since 20"));
    std::ofstream(directory.path() / "run.lock", std::ios::trunc).flush();  // not yet written
    EXPECT_THAT(refusal(), HasSubstr(" is in use by another process: stop it first"));
  }
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace rubato::runtime
