#include "collectives/node_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "collectives/agreement.hpp"
#include "huge_pages.hpp"
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

// Ranks that ask for two and a half huge pages, for 8 bytes, and for most of a huge page.
constexpr std::array<std::size_t, 3> kinds{5'242'887, 8, 1'900'000};
constexpr std::array<std::size_t, 3> huge_pages_of_kinds{3, 0, 1};
std::size_t size_of_kind(std::size_t node_rank) { return kinds.at(node_rank % 3); }

TEST(NodeMemory, LargeRegionsHaveHugePagesBesideSmallOnes) {
  if (!collapses_files()) return;
  for (const Topology& topology : real_and_pretended_topologies()) {
    const std::size_t own_rank = topology.node().rank();
    const NodeMemory memory(topology, size_of_kind(own_rank));
    EXPECT_EQ(huge_bytes(memory.region(own_rank)),
              huge_pages_of_kinds.at(own_rank % 3) * huge_page_bytes);
  }
}

TEST(NodeMemory, RegionsOfSmallAndHugePagesDoNotOverlap) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    const std::size_t own_rank = topology.node().rank();
    const NodeMemory memory(topology, size_of_kind(own_rank));
    std::ranges::fill(memory.region(own_rank), static_cast<std::byte>(own_rank + 1));
    topology.node().barrier();
    for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
      EXPECT_EQ(std::ranges::count(memory.region(rank), static_cast<std::byte>(rank + 1)),
                static_cast<std::ptrdiff_t>(size_of_kind(rank)));
    }
    topology.node().barrier();
  }
}

std::string file_stem() {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  return std::string("rubato.") + (job == nullptr ? "alone" : job);
}

TEST(NodeMemory, LeavesNoFile) {
  const Topology& topology = real_topology();
  const NodeMemory memory(topology, 64);
  topology.all().barrier();  // only its creator removes it
  for (const auto& entry : std::filesystem::directory_iterator(shared_memory_directory())) {
    EXPECT_NE(entry.path().stem(), file_stem());
  }
  topology.all().barrier();  // the next test's file is not there yet
}

// Those of this job's files that still have a name.
std::int64_t bytes_under_names() {
  std::int64_t blocks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared_memory_directory())) {
    struct stat status {};
    if (entry.path().stem() == file_stem() && ::stat(entry.path().c_str(), &status) == 0) {
      blocks += status.st_blocks;
    }
  }
  return 512 * blocks;
}

// A rank that is killed for want of memory is killed while it takes pages.
TEST(NodeMemory, HasNoNameAnyMoreWhenItTakesPages) {
  const Topology& topology = real_topology();
  std::atomic<bool> is_over{false};
  std::int64_t most_bytes = 0;
  std::thread watch([&] {
    while (!is_over) most_bytes = std::max(most_bytes, bytes_under_names());
  });
  for (int i = 0; i < 5; ++i) const NodeMemory memory(topology, std::size_t{16} << 20U);
  is_over = true;
  watch.join();
  EXPECT_EQ(most_bytes, 0);
  topology.all().barrier();
}

TEST(NodeMemory, IsTakenFromTheDirectoryThatIsSet) {
  const Topology& topology = real_topology();
  ASSERT_EQ(shared_memory_directory(), "/dev/shm");
  ::setenv("RUBATO_SHARED_MEMORY", "/does/not/exist", 1);
  std::string refusal;
  try {
    const NodeMemory memory(topology, 64);
  } catch (const AgreedFailure& refused) {
    refusal = refused.what();
  }
  ::unsetenv("RUBATO_SHARED_MEMORY");
  if (topology.node().size() == 1) {
    EXPECT_EQ(refusal, "");  // which takes memory of its own
  } else {
    EXPECT_THAT(refusal, HasSubstr("cannot look into /does/not/exist: No such file or directory"));
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
  const std::size_t too_much = std::size_t{1} << 50;
  const std::size_t last_rank = topology.all().size() - 1;
  try {
    const NodeMemory memory(topology, topology.all().rank() == last_rank ? too_much : 0);
    FAIL() << "nothing was thrown";
  } catch (const AgreedFailure& refusal) {
    EXPECT_EQ(refusal.failure().exit_code, 71);
    if (topology.node().size() == 1) {  // which takes memory of its own
      EXPECT_THAT(refusal.what(), HasSubstr("node-shared memory: cannot map 1073741824 MiB"));
      return;
    }
    EXPECT_THAT(refusal.what(), HasSubstr(topology.hosts().back() + ": node-shared memory: "));
    EXPECT_THAT(refusal.what(), HasSubstr("/dev/shm has "));
    EXPECT_THAT(refusal.what(), HasSubstr("MiB free, but 1073741824 MiB are needed"));
    EXPECT_THAT(refusal.what(), HasSubstr("RUBATO_SHARED_MEMORY"));
  }
}

}  // namespace
}  // namespace rubato::collectives
