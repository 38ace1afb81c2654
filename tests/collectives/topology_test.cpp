#include "collectives/topology.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "collectives/host_name.hpp"

namespace rubato::collectives {
namespace {

TEST(SliceOf, SlicesCoverTheArrayInWholeBlocks) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4096},
                                  std::size_t{4097}, std::size_t{272'474}}) {
    for (std::size_t parts = 1; parts <= 7; ++parts) {
      std::size_t begin = 0;
      for (std::size_t part = 0; part < parts; ++part) {
        const Slice slice = slice_of(count, part, parts);
        EXPECT_EQ(slice.begin, begin);
        EXPECT_TRUE(slice.begin % block_elements == 0 || slice.begin == count);
        begin = slice.end();
      }
      EXPECT_EQ(begin, count);
    }
  }
}

TEST(SliceOf, SlicesDifferByOneBlockAtMost) {
  // 7 blocks, the last with one element, over 3 owners: 3, 2 and 2 blocks.
  const std::size_t count = 6 * block_elements + 1;
  EXPECT_EQ(slice_of(count, 0, 3).size, 3 * block_elements);
  EXPECT_EQ(slice_of(count, 1, 3).size, 2 * block_elements);
  EXPECT_EQ(slice_of(count, 2, 3).size, block_elements + 1);
}

TEST(SliceOf, GrainsMayBeOtherThanBlocks) {
  EXPECT_EQ(slice_of(10, 1, 3, 1).begin, 4);
  EXPECT_EQ(slice_of(10, 1, 3, 1).size, 3);
  EXPECT_EQ(slice_of(10, 1, 2, 4).begin, 8);
}

TEST(SliceOf, ASliceThatDoesNotExistIsRefused) {
  EXPECT_THROW(slice_of(10, 2, 2), std::invalid_argument);
  EXPECT_THROW(slice_of(10, 0, 0), std::invalid_argument);
  EXPECT_THROW(slice_of(10, 0, 1, 0), std::invalid_argument);
}

TEST(Topology, OneHostIsOneNode) {
  const Communicator world = Communicator::world();
  const Topology topology(world);
  EXPECT_EQ(topology.node_count(), 1);
  EXPECT_EQ(topology.node_index(), 0);
  EXPECT_EQ(topology.node().size(), world.size());
  EXPECT_EQ(topology.node().rank(), world.rank());
  EXPECT_EQ(topology.ranks_per_node(), std::vector<std::size_t>{world.size()});
  EXPECT_EQ(topology.hosts(), std::vector<std::string>{host_name()});
  EXPECT_EQ(topology.slice_owners(), world.size());
  ASSERT_TRUE(topology.across().has_value());
  EXPECT_EQ(topology.across()->size(), 1);
}

TEST(Topology, PretendedNodesAreConsecutiveRanks) {
  const Communicator world = Communicator::world();
  for (std::size_t per_node = 1; per_node <= world.size(); ++per_node) {
    const Topology topology(world, per_node);
    const std::size_t nodes = (world.size() + per_node - 1) / per_node;
    const std::size_t last = world.size() - (nodes - 1) * per_node;
    EXPECT_EQ(topology.node_count(), nodes);
    EXPECT_EQ(topology.node_index(), world.rank() / per_node);
    EXPECT_EQ(topology.node().rank(), world.rank() % per_node);
    EXPECT_EQ(topology.ranks_per_node().back(), last);
    for (std::size_t rank = 0; rank < world.size(); ++rank) {
      EXPECT_EQ(topology.places()[rank], (RankPlace{rank / per_node, rank % per_node}));
    }
    EXPECT_EQ(std::accumulate(topology.ranks_per_node().begin(), topology.ranks_per_node().end(),
                              std::size_t{0}),
              world.size());
    EXPECT_EQ(topology.slice_owners(), last);
    EXPECT_EQ(topology.owns_slice(), world.rank() % per_node < last);
  }
}

TEST(Topology, OwnersOfASliceMeetAcrossNodes) {
  const Communicator world = Communicator::world();
  const Topology topology(world, 2);
  const bool is_owner = world.rank() % 2 < topology.slice_owners();
  ASSERT_EQ(topology.across().has_value(), is_owner);
  if (is_owner) {
    EXPECT_EQ(topology.across()->size(), topology.node_count());
    EXPECT_EQ(topology.across()->rank(), topology.node_index());
    EXPECT_EQ(topology.my_slice(100'000).size,
              slice_of(100'000, topology.node().rank(), topology.slice_owners()).size);
  } else {
    EXPECT_EQ(topology.my_slice(100'000).size, 0);
  }
}

TEST(Topology, ANodeOfNoRanksIsRefused) {
  const Communicator world = Communicator::world();
  EXPECT_THROW(Topology(world, 0), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::collectives
