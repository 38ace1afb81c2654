#include "collectives/node_barrier.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

// Each rank writes the round into its slot; after the barrier all slots must show it, before the
// next round none may have moved on.
std::size_t late_or_early_ranks(const Topology& topology, std::size_t rounds, std::size_t slow_rank,
                                std::chrono::microseconds delay) {
  const NodeMemory slots(topology, sizeof(std::size_t));
  NodeBarrier barrier(topology);
  std::size_t wrong = 0;
  for (std::size_t round = 1; round <= rounds; ++round) {
    if (topology.node().rank() == slow_rank) {
      std::this_thread::sleep_for(delay);
    }
    slots.region_as<std::size_t>(topology.node().rank())[0] = round;
    barrier.wait();
    for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
      wrong += slots.region_as<std::size_t>(rank)[0] == round ? 0U : 1U;
    }
    barrier.wait();
  }
  return wrong;
}

TEST(NodeBarrier, NobodyPassesBeforeAllHaveCome) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    EXPECT_EQ(late_or_early_ranks(topology, 500, 0, std::chrono::microseconds{0}), 0);
  }
}

TEST(NodeBarrier, AwaitsARankThatTakesLong) {
  const Topology& topology = real_topology();
  for (std::size_t slow = 0; slow < topology.node().size(); ++slow) {
    EXPECT_EQ(late_or_early_ranks(topology, 2, slow, std::chrono::milliseconds{25}), 0);
  }
}

}  // namespace
}  // namespace rubato::collectives
