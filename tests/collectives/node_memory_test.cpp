#include "collectives/node_memory.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/agreement.hpp"
#include "memory_file.hpp"
#include "rank_pattern.hpp"
#include "tests/huge_pages.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::collectives {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

static_assert(!std::is_copy_constructible_v<NodeMemory>);
static_assert(!std::is_copy_assignable_v<NodeMemory>);
static_assert(std::is_nothrow_move_constructible_v<NodeMemory>);
static_assert(std::is_nothrow_move_assignable_v<NodeMemory>);

// What this rank asked the system for room, and what the system shall answer first.
struct Asked {
  std::string file;
  std::size_t begin = 0;  // of the first time
  std::size_t bytes = 0;
  std::size_t times = 0;
  std::vector<int> errors;
};
Asked asked;

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

bool all_ranks_collapse_files() {
  std::array<std::int64_t, 1> cannot{collapses_files() ? 0 : 1};
  real_topology().all().maximum(cannot);
  return cannot[0] == 0;
}

TEST(NodeMemory, LargeRegionsHaveHugePagesBesideSmallOnes) {
  const bool have_some = all_ranks_collapse_files();
  for (const Topology& topology : real_and_pretended_topologies()) {
    const std::size_t own_rank = topology.node().rank();
    const NodeMemory memory(topology, size_of_kind(own_rank));
    const std::span<std::byte> region = memory.region(own_rank);
    const std::size_t huge_pages = huge_pages_of_kinds.at(own_rank % 3);
    const auto begin = reinterpret_cast<std::uintptr_t>(region.data());
    EXPECT_EQ(begin % (huge_pages > 0 ? huge_page_bytes : page_bytes), 0);
    if (have_some) {
      EXPECT_EQ(huge_bytes(region), huge_pages * huge_page_bytes);
    }
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

class NodeMemoryRoom : public testing::Test {
 protected:
  NodeMemoryRoom() {
    asked = {};
    ::unsetenv("RUBATO_SHARED_MEMORY");
  }
  ~NodeMemoryRoom() override {
    asked = {};
    ::setenv("RUBATO_SHARED_MEMORY", set_.c_str(), 1);
  }

  std::string refusal(std::size_t bytes) const {
    try {
      const NodeMemory memory(topology_, bytes);
      return "";
    } catch (const AgreedFailure& refused) {
      EXPECT_EQ(refused.failure().exit_code, 71);
      return refused.what();
    }
  }

  static std::string in_default_directory() {
    return std::filesystem::canonical("/dev/shm").string() + "/" + file_stem();
  }

  const std::string set_ = shared_memory_directory();
  const Topology& topology_ = real_topology();
  const std::vector<std::size_t>& nodes_ = topology_.ranks_per_node();
  // A node of one rank takes memory of its process alone.
  const bool has_file_ = topology_.node().size() > 1;
  const bool some_have_files_ = std::ranges::max(nodes_) > 1;
};

// A rank that is killed for want of memory is killed while it takes some.
TEST_F(NodeMemoryRoom, IsTakenWhenTheFileHasNoNameAnyMore) {
  const NodeMemory memory(topology_, 5'242'887);
  EXPECT_EQ(asked.bytes, has_file_ ? 3 * huge_page_bytes : 0);
  if (!has_file_) return;
  EXPECT_EQ(asked.begin, topology_.node().rank() * 3 * huge_page_bytes);
  EXPECT_THAT(asked.file, AllOf(StartsWith(in_default_directory()), EndsWith(" (deleted)")));
}

TEST_F(NodeMemoryRoom, IsTakenInPiecesThatASignalDoesNotUndo) {
  asked.errors = {0, EINTR, EINTR, 0};
  EXPECT_EQ(refusal(5'242'887), "");
  EXPECT_EQ(asked.times, has_file_ ? 5 : 0);
}

TEST_F(NodeMemoryRoom, IsTakenFromTheDirectoryThatIsSet) {
  const TemporaryDirectory directory;
  ::setenv("RUBATO_SHARED_MEMORY", directory.path().c_str(), 1);
  const NodeMemory memory(topology_, 8);
  if (topology_.node().rank() == 0 && has_file_) {  // which creates it in its own directory
    EXPECT_THAT(asked.file, StartsWith(std::filesystem::canonical(directory.path()).string() + "/" +
                                       file_stem()));
  }
}

TEST_F(NodeMemoryRoom, MustHaveADirectory) {
  ::setenv("RUBATO_SHARED_MEMORY", "/does/not/exist", 1);
  const std::string sentence = refusal(64);
  if (some_have_files_) {
    EXPECT_THAT(sentence, HasSubstr("cannot look into /does/not/exist: No such file or directory"));
  } else {
    EXPECT_EQ(sentence, "");
  }
}

// "/proc/self" is another directory for each process.
TEST_F(NodeMemoryRoom, MustBeInADirectoryThatAllRanksOfTheHostHave) {
  const TemporaryDirectory directory;
  const int opened = topology_.node().rank() == 0
                         ? ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                         : -1;
  ::setenv("RUBATO_SHARED_MEMORY", ("/proc/self/fd/" + std::to_string(opened)).c_str(), 1);
  const std::string sentence = refusal(64);
  if (some_have_files_) {
    EXPECT_THAT(sentence, AllOf(HasSubstr("cannot open /proc/self/fd/"),
                                HasSubstr("; set RUBATO_SHARED_MEMORY to a directory that all")));
  } else {
    EXPECT_EQ(sentence, "");
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  if (opened >= 0) ::close(opened);
}

TEST_F(NodeMemoryRoom, ThatOthersTookMeanwhileIsASentenceOnAllRanks) {
  const bool is_last = topology_.all().rank() == topology_.all().size() - 1;
  asked.errors = {0, is_last ? ENOSPC : 0};
  const std::string sentence = refusal(std::size_t{3} << 20U);
  if (nodes_.back() == 1) {
    EXPECT_EQ(sentence, "");
  } else {
    EXPECT_THAT(sentence, HasSubstr("cannot take 4 MiB of /dev/shm: No space left on device; set "
                                    "RUBATO_SHARED_MEMORY to"));
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
    EXPECT_THAT(refusal.what(), HasSubstr(shared_memory_directory() + " has "));
    EXPECT_THAT(refusal.what(), HasSubstr("MiB free, but 1073741824 MiB are needed"));
    EXPECT_THAT(refusal.what(), HasSubstr("mpirun -x RUBATO_SHARED_MEMORY"));
  }
}

}  // namespace
}  // namespace rubato::collectives

// In the place of the C library's.
extern "C" int posix_fallocate(int file, off_t begin, off_t bytes) {
  auto& asked = rubato::collectives::asked;
  std::error_code ignored;
  asked.file =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), ignored).string();
  const std::size_t time = asked.times++;
  if (time == 0) asked.begin = static_cast<std::size_t>(begin);
  asked.bytes += static_cast<std::size_t>(bytes);
  if (time < asked.errors.size() && asked.errors[time] != 0) return asked.errors[time];
  return reinterpret_cast<decltype(&posix_fallocate)>(dlsym(RTLD_NEXT, "posix_fallocate"))(
      file, begin, bytes);
}
