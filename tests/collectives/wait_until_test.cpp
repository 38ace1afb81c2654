#include "collectives/wait_until.hpp"

#include <gtest/gtest.h>
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

TEST(WaitUntil, GoesThroughAllItsStages) {
  const Patience patience{.spins = 10, .yields = std::chrono::microseconds{100}};
  const auto begin = std::chrono::steady_clock::now();
  const auto is_late = [&] {
    return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds{3};
  };
  wait_until(is_late, patience);
  EXPECT_TRUE(is_late());
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
  EXPECT_LT(processor_milliseconds() - before, 100);
}

}  // namespace
}  // namespace rubato::collectives
