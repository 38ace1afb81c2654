#include "collectives/node_exchange.hpp"

#include <gtest/gtest.h>

#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

TEST(NodeExchange, ServesArraysOfDifferentTypesInTurn) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeExchange exchange(topology);
    const std::size_t rank = topology.all().rank();
    const std::size_t ranks = topology.all().size();
    for (const std::size_t count : interesting_counts) {
      std::vector<float> floats = pattern<float>(rank, count);
      std::vector<double> doubles = pattern<double>(rank, count);
      exchange.sum<float>(topology, floats);
      exchange.sum<double>(topology, doubles);
      EXPECT_EQ(wrong_sums<float>(floats, ranks), 0) << count << " elements";
      EXPECT_EQ(wrong_sums<double>(doubles, ranks), 0) << count << " elements";
    }
  }
}

TEST(NodeExchange, IsMadeOnceForATopology) {
  const Topology& topology = real_topology();
  EXPECT_EQ(&topology.node_exchange(), &topology.node_exchange());
}

}  // namespace
}  // namespace rubato::collectives
