#include "app/sample_rate.hpp"

#include <gtest/gtest.h>

namespace rubato::app {
namespace {

runtime::StepReport step(std::uint64_t samples_so_far, double seconds) {
  runtime::StepReport report;
  report.samples = samples_so_far;
  report.seconds = seconds;
  return report;
}

TEST(SampleRate, LeavesTheFirstUpdateOut) {
  SampleRate rate;
  rate.add(step(32, 10));
  EXPECT_EQ(rate.overall(), std::nullopt);
  EXPECT_EQ(rate.take(), std::nullopt);
  rate.add(step(96, 0.5));  // 64 more in half a second
  EXPECT_EQ(rate.overall(), 128.0);
  EXPECT_EQ(rate.take(), 128.0);
}

TEST(SampleRate, BeginsAnewWhenTaken) {
  SampleRate rate;
  rate.add(step(10, 1));
  rate.add(step(20, 1));
  EXPECT_EQ(rate.take(), 10.0);
  EXPECT_EQ(rate.take(), std::nullopt);
  rate.add(step(50, 1));
  rate.add(step(110, 2));
  EXPECT_EQ(rate.take(), 30.0);     // 90 in 3 s
  EXPECT_EQ(rate.overall(), 25.0);  // 100 in 4 s
}

TEST(SampleRate, IsNoneWhereNoTimeHasPassed) {
  SampleRate rate;
  rate.add(step(10, 1));
  rate.add(step(20, 0));
  EXPECT_EQ(rate.overall(), std::nullopt);
}

}  // namespace
}  // namespace rubato::app
