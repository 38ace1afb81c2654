#include "collectives/wait_until.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include <thread>

#include "collectives/node_barrier.hpp"
#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

double processor_milliseconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

TEST(WaitUntil, ReturnsAtOnceWhenTheConditionHolds) {
  std::size_t checks = 0;
  wait_until([&] { return ++checks > 0; }, Patience{});
  EXPECT_EQ(checks, 1);
}

// Times that this process has left its core by its own will: a sleep counts, a yield does not.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

TEST(WaitUntil, SleepsOnceItHasYieldedLongEnough) {
  const Patience patience{.spins = 10,
                          .yields = std::chrono::microseconds{1000},
                          .sleep = std::chrono::microseconds{1000}};
  const long before = sleeps();
  const auto begin = std::chrono::steady_clock::now();
  wait_until(
      [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds{200}; },
      patience);
  EXPECT_GE(sleeps() - before, 5);
}

// Sleeps of a constant 50 us would allow about 2000 checks, those that grow with the wait at most
// 128 (of 50 us, up to 6.4 ms) and 128 ln(200 / 6.4) = 441 more.
TEST(WaitUntil, SleepsLongerTheLongerItHasWaited) {
  const Patience patience{.spins = 0,
                          .yields = std::chrono::microseconds{0},
                          .longest_sleep = std::chrono::microseconds{5000}};
  std::size_t checks = 0;
  const auto begin = std::chrono::steady_clock::now();
  wait_until(
      [&] {
        ++checks;
        return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds{200};
      },
      patience);
  EXPECT_LT(checks, 600);
}

// The barrier's own patience, whether ranks outnumber cores or not.
TEST(WaitUntil, ALongWaitLeavesTheCoreToOthers) {
  const Topology& topology = real_topology();
  NodeBarrier barrier(topology);
  barrier.wait();
  const double before = processor_milliseconds();
  if (topology.node().rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds{400});
  }
  barrier.wait();
  EXPECT_LT(processor_milliseconds() - before, 150);
}

}  // namespace
}  // namespace rubato::collectives
