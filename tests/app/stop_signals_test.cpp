#include "app/stop_signals.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "runtime/stop_request.hpp"

namespace rubato::app {
namespace {

bool is_readable(int descriptor) {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

TEST(StopSignals, AreTakenInsteadOfEndingTheProcess) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP}) {
    StopSignals signals;
    signals.look();
    EXPECT_FALSE(signals.wants_stop());
    ::raise(signal);
    EXPECT_TRUE(is_readable(signals.descriptor()));
    signals.look();
    EXPECT_TRUE(signals.wants_stop());
    EXPECT_FALSE(signals.wants_kill());
  }
}

TEST(StopSignals, BreakOffWhatRequiresThatNoneHasCome) {
  StopSignals signals;
  EXPECT_NO_THROW(signals.require_none());
  ::raise(SIGTERM);
  try {
    signals.require_none();
    FAIL() << "expected an exception";
  } catch (const Interrupted& interrupted) {
    EXPECT_EQ(interrupted.signal(), SIGTERM);
  }
}

TEST(StopSignals, KeepTheNameOfTheFirst) {
  StopSignals signals;
  ::raise(SIGHUP);
  signals.look();
  ::raise(SIGINT);
  signals.look();
  EXPECT_EQ(signals.first(), "SIGHUP");
}

TEST(StopSignals, AreUrgentWhenOneThatPressesComesAgain) {
  StopSignals signals;
  ::raise(SIGUSR1);
  ::raise(SIGINT);
  signals.look();
  ::raise(SIGUSR1);
  signals.look();
  EXPECT_FALSE(signals.wants_kill());
  std::this_thread::sleep_for(runtime::same_request);
  ::raise(SIGTERM);
  signals.look();
  EXPECT_TRUE(signals.wants_kill());
  std::this_thread::sleep_for(runtime::same_request);
  ::raise(SIGINT);
  signals.look();
  EXPECT_TRUE(signals.wants_kill());
}

// As `timeout` sends them, to a process and to its group.
TEST(StopSignals, OneRequestMayComeTwice) {
  StopSignals signals;
  for (int time = 0; time < 2; ++time) {
    ::raise(SIGTERM);
    signals.look();
    EXPECT_TRUE(signals.wants_stop());
    EXPECT_FALSE(signals.wants_kill());
  }
}

// SIGHUP is under nohup, SIGINT in a background job of a script.
TEST(StopSignals, StayIgnored) {
  for (const int signal : {SIGHUP, SIGINT}) {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    struct sigaction former {};
    ::sigaction(signal, &ignored, &former);
    {
      StopSignals signals;
      ::raise(signal);
      signals.look();
      EXPECT_FALSE(signals.wants_stop());
      ::raise(SIGTERM);
      signals.look();
      EXPECT_EQ(signals.first(), "SIGTERM");
    }
    ::sigaction(signal, &former, nullptr);
  }
}

}  // namespace
}  // namespace rubato::app
