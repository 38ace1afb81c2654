// What ranks tell each other beside gradients, on nodes real and pretended.
#include "optim/update_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/node_barrier.hpp"

namespace rubato::optim {
namespace {

using collectives::Topology;

class UpdateTablesTest : public testing::Test {
 protected:
  const collectives::Communicator world = collectives::Communicator::world();
  const Topology one_node{world};
  const Topology nodes_of_two{world, 2};
  const Topology nodes_of_one{world, 1};
  const std::vector<const Topology*> topologies{&one_node, &nodes_of_two, &nodes_of_one};
};

// Differs by update and entry, so that neither leftovers nor exchanged entries go unseen.
double value(std::size_t update, std::size_t entry) {
  return static_cast<double>(1000 * (update + 1) + entry);
}

// Minibatch i is that of rank i % ranks. The last slot is more than the update has: what the first
// rank writes there stays on its node.
void write_mine(const UpdateTables& tables, const Topology& topology, std::size_t update,
                std::size_t minibatches) {
  const std::size_t rank = topology.all().rank();
  tables.notes()[rank] = {value(update, rank), -value(update, rank), 0.5};
  for (std::size_t i = rank; i < minibatches; i += topology.all().size()) {
    tables.slots()[i] = {value(update, i), 1, 2, 3, 4, -value(update, i)};
  }
  if (rank == 0) tables.slots()[minibatches].samples = 9;
  const std::span<std::int64_t> largest = tables.largest_of(topology.node().rank());
  for (std::size_t i = 0; i < largest.size(); ++i) {  // another rank's is the largest of each
    largest[i] = static_cast<std::int64_t>(100 * update + (rank + i) % topology.all().size());
  }
}

std::int64_t largest_of_node(const UpdateTables& tables, const Topology& topology, std::size_t i) {
  std::int64_t largest = 0;
  for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
    largest = std::max(largest, tables.largest_of(rank)[i]);
  }
  return largest;
}

TEST_F(UpdateTablesTest, EveryRankReadsWhatAnyHasWritten) {
  constexpr std::size_t minibatches = 7;
  constexpr std::size_t measured = 3;
  for (const Topology* topology : topologies) {
    collectives::NodeBarrier barrier(*topology);
    UpdateTables tables(*topology, 5);
    tables.allocate(minibatches + 1, measured);
    for (std::size_t update = 0; update < 4; ++update) {
      write_mine(tables, *topology, update, minibatches);
      barrier.wait();
      if (topology->node().rank() == 0) {
        for (double& number : tables.measured()) number += value(update, 0);
        tables.begin_combining(minibatches);
      }
      tables.finish_combining();
      barrier.wait();

      for (std::size_t rank = 0; rank < topology->all().size(); ++rank) {
        EXPECT_EQ(tables.notes()[rank], (RankNote{value(update, rank), -value(update, rank), 0.5}));
      }
      for (std::size_t i = 0; i < minibatches; ++i) {
        EXPECT_EQ(tables.slots()[i].loss_sum, value(update, i));
        EXPECT_EQ(tables.slots()[i].audit, 4);
        EXPECT_EQ(tables.slots()[i].weighed_square, -value(update, i));
      }
      const bool is_first_node = topology->all().rank() == topology->node().rank();
      EXPECT_EQ(tables.slots()[minibatches].samples, is_first_node ? 9 : 0);
      for (const double number : tables.measured()) {
        EXPECT_EQ(number, value(update, 0) * static_cast<double>(topology->node_count()));
      }
      for (std::size_t i = 0; i < tables.largest_of(0).size(); ++i) {
        EXPECT_EQ(largest_of_node(tables, *topology, i),
                  static_cast<std::int64_t>(100 * update + topology->all().size() - 1));
      }
      tables.turn();
      barrier.wait();
    }
  }
}

// Of numbers whose sum depends on the order: the same on all nodes, however many there are.
TEST_F(UpdateTablesTest, AllNodesAddUpAlike) {
  UpdateTables tables(nodes_of_one, 5);
  tables.allocate(1, 1);
  constexpr std::array<double, 4> addends{1e16, 1, -1e16, 0.25};
  tables.measured()[0] = addends[world.rank() % addends.size()];
  tables.begin_combining(1);
  tables.finish_combining();
  const double sum = tables.measured()[0];
  std::array<double, 2> largest{sum, -sum};
  world.maximum(largest);
  EXPECT_EQ(largest[0], -largest[1]);
}

// A rank that waited there for the last one would not come to the barrier that this one is at.
TEST_F(UpdateTablesTest, ToBeginIsNotToWaitForOtherNodes) {
  UpdateTables tables(nodes_of_one, 5);
  tables.allocate(1, 0);
  tables.notes()[world.rank()] = {value(0, world.rank()), 0, 0};
  const bool is_last = world.rank() == world.size() - 1;
  if (!is_last) tables.begin_combining(1);
  world.barrier();
  if (is_last) tables.begin_combining(1);
  tables.finish_combining();
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    EXPECT_EQ(tables.notes()[rank][0], value(0, rank));
  }
}

}  // namespace
}  // namespace rubato::optim
