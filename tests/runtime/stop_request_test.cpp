// Signals become a flag; the second order to end ends; what was there before comes back.
#include "runtime/stop_request.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

namespace rubato::runtime {
namespace {

using namespace std::chrono_literals;

// How a child process that does this ends: its exit code, or minus the signal that killed it.
int end_of_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(StopRequest, EachSignalIsTheCause) {
  struct Case {
    int signal;
    const char* name;
  };
  for (const Case& one : {Case{SIGUSR1, "SIGUSR1"}, Case{SIGUSR2, "SIGUSR2"},
                          Case{SIGTERM, "SIGTERM"}, Case{SIGINT, "SIGINT"}}) {
    const StopRequest request;
    EXPECT_FALSE(request.is_requested());
    EXPECT_EQ(request.cause(), "");
    ::raise(one.signal);
    EXPECT_TRUE(request.is_requested());
    EXPECT_EQ(request.cause(), one.name);
  }
}

TEST(StopRequest, TheFirstSignalStaysTheCause) {
  const StopRequest request;
  ::raise(SIGUSR2);
  ::raise(SIGUSR1);
  ::raise(SIGTERM);
  EXPECT_EQ(request.cause(), "SIGUSR2");
}

TEST(StopRequest, FormerHandlersComeBack) {
  const int end = end_of_child([] {
    { const StopRequest request; }
    ::raise(SIGUSR1);
    return 0;
  });
  EXPECT_EQ(end, -SIGUSR1);
}

TEST(StopRequest, ASecondOrderEndsTheProcess) {
  for (const int second : {SIGTERM, SIGINT}) {
    const int end = end_of_child([second] {
      const StopRequest request;
      ::raise(SIGINT);
      std::this_thread::sleep_for(150ms);
      ::raise(second);
      return 0;
    });
    EXPECT_EQ(end, -second);
  }
}

TEST(StopRequest, ARepetitionAtOnceIsTheSameOrder) {
  const int end = end_of_child([] {
    const StopRequest request;
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    return request.cause() == "SIGTERM" ? 7 : 1;
  });
  EXPECT_EQ(end, 7);
}

TEST(StopRequest, ASecondRequestByUserSignalIsHarmless) {
  const int end = end_of_child([] {
    const StopRequest request;
    ::raise(SIGUSR1);
    std::this_thread::sleep_for(150ms);
    ::raise(SIGUSR1);
    return 7;
  });
  EXPECT_EQ(end, 7);
}

TEST(StopRequest, AnIgnoredInterruptStaysIgnored) {
  const int end = end_of_child([] {
    ::signal(SIGINT, SIG_IGN);
    const StopRequest request;
    ::raise(SIGINT);
    return request.is_requested() ? 1 : 7;
  });
  EXPECT_EQ(end, 7);
}

TEST(StopRequest, ThereIsOneInAProcess) {
  const StopRequest request;
  EXPECT_THROW(StopRequest{}, std::logic_error);
}

}  // namespace
}  // namespace rubato::runtime
