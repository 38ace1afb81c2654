#include "app/restart_policy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::app {
namespace {

using Action = RestartDecision::Action;

TEST(RestartPolicy, EndsWithTheRunAndOnRequest) {
  RestartPolicy policy(10, 1);
  EXPECT_EQ(policy.after(0, 5).action, Action::finish);
  EXPECT_EQ(policy.after(75, 5).action, Action::stop);
}

TEST(RestartPolicy, KnowsTheCodeOfAStopThatTheTrainingWasTold) {
  RestartPolicy policy(10, 1, 65);
  EXPECT_EQ(policy.after(65, 5).action, Action::stop);
  EXPECT_EQ(policy.after(75, 5).action, Action::restart);
}

TEST(RestartPolicy, PassesOnWhatARestartWouldNotChange) {
  for (const int code : {64, 65, 66, 73}) {
    EXPECT_EQ(RestartPolicy(10, 1).after(code, 5).action, Action::give_up) << code;
  }
  for (const int code : {1, 70, 71, 74, 110, 134, 137, 139, 205}) {
    EXPECT_EQ(RestartPolicy(10, 1).after(code, 5).action, Action::restart) << code;
  }
}

TEST(RestartPolicy, DoublesTheDelayUpToAMinute) {
  RestartPolicy policy(10, 1);
  std::vector<double> delays;
  for (int i = 0; i < 10; ++i) delays.push_back(policy.after(137, 0).delay_seconds);
  EXPECT_EQ(delays, (std::vector<double>{0, 1, 2, 4, 8, 16, 32, 60, 60, 60}));
  const auto last = policy.after(137, 0);
  EXPECT_EQ(last.action, Action::give_up);
  EXPECT_EQ(last.reason, "killed by signal 9, after 10 restarts without progress");
}

TEST(RestartPolicy, BeginsAgainOnlyWithAnUpdateThatIsNew) {
  RestartPolicy policy(2, 1);
  EXPECT_EQ(policy.after(137, 7).delay_seconds, 0);
  EXPECT_EQ(policy.after(137, 7).delay_seconds, 1);
  EXPECT_EQ(policy.after(137, 8).delay_seconds, 0) << "progress";
  EXPECT_EQ(policy.after(137, 6).delay_seconds, 1) << "updates that had been made before";
  EXPECT_EQ(policy.after(137, 8).action, Action::give_up);
}

TEST(RestartPolicy, GivesUpAnInternalErrorThatComesBack) {
  RestartPolicy policy(10, 1);
  EXPECT_EQ(policy.after(70, 7).action, Action::restart);
  EXPECT_EQ(policy.after(70, 8).action, Action::restart) << "at another update";
  EXPECT_EQ(policy.after(137, 8).action, Action::restart);
  EXPECT_EQ(policy.after(70, 8).action, Action::restart) << "not twice in a row";
  const auto last = policy.after(70, 8);
  EXPECT_EQ(last.action, Action::give_up);
  EXPECT_EQ(last.reason, "exit code 70 twice at update 8");
}

TEST(RestartPolicy, MayBeToldNeverToRestart) {
  EXPECT_EQ(RestartPolicy(0, 1).after(137, 100).action, Action::give_up);
  RestartPolicy once(1, 1);
  once.after(137, 0);
  EXPECT_EQ(once.after(137, 0).reason, "killed by signal 9, after 1 restart without progress");
}

TEST(DescribeExit, TellsSignalsFromCodes) {
  EXPECT_EQ(describe_exit(139), "killed by signal 11");
  EXPECT_EQ(describe_exit(205), "exit code 205");
  EXPECT_EQ(describe_exit(1), "exit code 1");
}

}  // namespace
}  // namespace rubato::app
