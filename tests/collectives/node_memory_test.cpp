#include "collectives/node_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "collectives/agreement.hpp"
#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

using testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<NodeMemory>);
static_assert(!std::is_copy_assignable_v<NodeMemory>);
static_assert(std::is_nothrow_move_constructible_v<NodeMemory>);
static_assert(std::is_nothrow_move_assignable_v<NodeMemory>);

std::size_t size_of(std::size_t node_rank) { return 1000 * node_rank + 8; }

TEST(NodeMemory, RegionsAreAlignedZeroAndOfTheSizeEachRankAskedFor) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    const NodeMemory memory(topology, size_of(topology.node().rank()));
    for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
      const std::span<std::byte> region = memory.region(rank);
      EXPECT_EQ(region.size(), size_of(rank));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.data()) % 64, 0);
      EXPECT_EQ(std::ranges::count(region, std::byte{0}),
                static_cast<std::ptrdiff_t>(size_of(rank)));
    }
    topology.node().barrier();
  }
}

TEST(NodeMemory, WhatOneRankWritesTheOthersRead) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    const NodeMemory memory(topology, size_of(topology.node().rank()));
    const auto value = [](std::size_t rank, std::size_t i) {
      return static_cast<int>(100 * rank + i);
    };
    const std::span<int> mine = memory.region_as<int>(topology.node().rank());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = value(topology.all().rank(), i);
    }
    topology.node().barrier();
    const std::size_t first = topology.all().rank() - topology.node().rank();
    for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
      const std::span<int> region = memory.region_as<int>(rank);
      EXPECT_EQ(region.size(), size_of(rank) / sizeof(int));
      EXPECT_EQ(region.back(), value(first + rank, region.size() - 1));
    }
    topology.node().barrier();
  }
}

TEST(NodeMemory, ARegionMayBeEmpty) {
  const Topology& topology = real_topology();
  const NodeMemory memory(topology, topology.node().rank() == 0 ? 64 : 0);
  EXPECT_EQ(memory.region(0).size(), 64);
  for (std::size_t rank = 1; rank < topology.node().size(); ++rank) {
    EXPECT_TRUE(memory.region(rank).empty());
  }
}

TEST(NodeMemory, MovingHandsTheMappingOver) {
  const Topology& topology = real_topology();
  NodeMemory first(topology, 64);
  const std::byte* const begin = first.region(0).data();
  NodeMemory second(std::move(first));
  EXPECT_EQ(second.region(0).data(), begin);
  NodeMemory third(topology, 128);
  third = std::move(second);
  EXPECT_EQ(third.region(0).data(), begin);
}

TEST(NodeMemory, TooMuchIsRefusedOnAllRanksWithTheCure) {
  const Topology& topology = real_topology();
  if (topology.all().size() == 1) {
    return;  // a node of one rank has no window: its memory is ordinary
  }
  const std::size_t too_much = std::size_t{1} << 50;
  try {
    const NodeMemory memory(topology, topology.all().rank() == 1 ? too_much : 0);
    FAIL() << "nothing was thrown";
  } catch (const AgreedFailure& refusal) {
    EXPECT_EQ(refusal.failure().exit_code, 71);
    EXPECT_THAT(refusal.what(), HasSubstr("/dev/shm has "));
    EXPECT_THAT(refusal.what(), HasSubstr("MiB free, but 1073741824 MiB are needed"));
    EXPECT_THAT(refusal.what(), HasSubstr("osc_sm_backing_directory"));
    EXPECT_THAT(refusal.what(), HasSubstr(topology.hosts()[0]));
  }
}

}  // namespace
}  // namespace rubato::collectives
