#include "app/stop_signals.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "runtime/stop_request.hpp"

namespace rubato::app {
namespace {

// As in the foreground: what the tests themselves run under, as nohup, may ignore signals.
class StopSignalsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const int signal : {SIGINT, SIGHUP}) ::signal(signal, SIG_DFL);
  }
};

bool is_readable(int descriptor) {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

TEST_F(StopSignalsTest, AreTakenInsteadOfEndingTheProcess) {
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

TEST_F(StopSignalsTest, BreakOffWhatRequiresThatNoneHasCome) {
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

TEST_F(StopSignalsTest, KeepTheNameOfTheFirst) {
  StopSignals signals;
  ::raise(SIGHUP);
  signals.look();
  ::raise(SIGINT);
  signals.look();
  EXPECT_EQ(signals.first(), "SIGHUP");
}

TEST_F(StopSignalsTest, AreUrgentWhenOneThatPressesComesAgain) {
  StopSignals signals;
  ::raise(SIGUSR1);
  ::raise(SIGINT);
  signals.look();
  std::this_thread::sleep_for(runtime::same_request);
  ::raise(SIGUSR1);
  signals.look();
  EXPECT_FALSE(signals.wants_kill());
  ::raise(SIGTERM);
  signals.look();
  EXPECT_TRUE(signals.wants_kill());
  std::this_thread::sleep_for(runtime::same_request);
  ::raise(SIGINT);
  signals.look();
  EXPECT_TRUE(signals.wants_kill());
}

// As `timeout` sends them, to a process and to its group.
TEST_F(StopSignalsTest, OneRequestMayComeTwice) {
  StopSignals signals;
  for (int time = 0; time < 2; ++time) {
    ::raise(SIGTERM);
    signals.look();
    EXPECT_TRUE(signals.wants_stop());
    EXPECT_FALSE(signals.wants_kill());
  }
}

// SIGHUP is under nohup, SIGINT in a background job of a script.
TEST_F(StopSignalsTest, StayIgnored) {
  for (const int signal : {SIGHUP, SIGINT}) {
    ::signal(signal, SIG_IGN);
    StopSignals signals;
    ::raise(signal);
    signals.look();
    EXPECT_FALSE(signals.wants_stop());
    ::raise(SIGTERM);
    signals.look();
    EXPECT_EQ(signals.first(), "SIGTERM");
  }
}

}  // namespace
}  // namespace rubato::app
