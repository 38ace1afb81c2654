#include "runtime/stop_wish.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace rubato::runtime {
namespace {

using Clock = std::chrono::steady_clock;

TEST(StopWish, IsNoneUnlessThereIsACause) {
  const RunOptions options;
  const StopWish stop(options, Clock::now());
  EXPECT_EQ(stop.wish(), StopCause::none);
  EXPECT_FALSE(stop.is_at_stop(1'000'000));
}

TEST(StopWish, KnowsTheUpdateToStopAfter) {
  RunOptions options;
  options.stop_after_update = 7;
  const StopWish stop(options, Clock::now());
  EXPECT_FALSE(stop.is_at_stop(6));
  EXPECT_TRUE(stop.is_at_stop(7));
  EXPECT_TRUE(stop.is_at_stop(8));
  EXPECT_EQ(stop.name_of(StopCause::update), "--stop-after-update");
}

TEST(StopWish, WatchesTheClock) {
  RunOptions options;
  options.max_seconds = 3600;
  EXPECT_EQ(StopWish(options, Clock::now()).wish(), StopCause::none);
  const StopWish late(options, Clock::now() - std::chrono::hours(2));
  EXPECT_EQ(late.wish(), StopCause::time);
  EXPECT_EQ(late.name_of(StopCause::time), "--max-seconds");
}

TEST(StopWish, HearsASignalFirst) {
  const StopRequest request;
  RunOptions options;
  options.max_seconds = 1;
  options.stop_request = &request;
  const StopWish stop(options, Clock::now() - std::chrono::hours(1));
  EXPECT_EQ(stop.name_of(StopCause::signal), "a signal to another rank");
  std::raise(SIGUSR1);
  EXPECT_EQ(stop.wish(), StopCause::signal);
  EXPECT_EQ(stop.name_of(StopCause::signal), "SIGUSR1");
}

}  // namespace
}  // namespace rubato::runtime
