#include "collectives/mapped_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "memory_file.hpp"
#include "tests/huge_pages.hpp"

namespace rubato::collectives {
namespace {

using testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<MappedMemory>);
static_assert(std::is_nothrow_move_constructible_v<MappedMemory>);
static_assert(std::is_nothrow_move_assignable_v<MappedMemory>);

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

bool begins_at_huge_page(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % huge_page_bytes == 0;
}

TEST(InWholePages, ARestOfHalfAHugePageTakesOne) {
  EXPECT_EQ(in_whole_pages(0), 0);
  EXPECT_EQ(in_whole_pages(1), 4096);
  EXPECT_EQ(in_whole_pages(4097), 8192);
  EXPECT_EQ(in_whole_pages(mebibyte - 1), mebibyte);
  EXPECT_EQ(in_whole_pages(mebibyte), 2 * mebibyte);
  EXPECT_EQ(in_whole_pages(2 * mebibyte), 2 * mebibyte);
  EXPECT_EQ(in_whole_pages(2 * mebibyte + 1), 2 * mebibyte + 4096);
  EXPECT_EQ(in_whole_pages(5 * mebibyte), 6 * mebibyte);
}

TEST(MappedMemory, BeginsAtAHugePageIfItHasSome) {
  const MemoryFile file(3 * mebibyte);
  for (const std::size_t bytes : {std::size_t{1}, mebibyte, 3 * mebibyte}) {
    for (const int descriptor : {MappedMemory::no_file, file.descriptor()}) {
      const MappedMemory memory(descriptor, bytes);
      EXPECT_EQ(memory.bytes().size(), bytes);
      EXPECT_TRUE(bytes < mebibyte || begins_at_huge_page(memory.bytes()));
      EXPECT_TRUE(is_zero(memory.bytes()));
    }
  }
}

TEST(MappedMemory, TwoOfAFileAreTheSameMemoryTwoOfNoneAreNot) {
  const MemoryFile file(mebibyte);
  for (const int descriptor : {MappedMemory::no_file, file.descriptor()}) {
    const MappedMemory one(descriptor, mebibyte);
    const MappedMemory other(descriptor, mebibyte);
    one.bytes().back() = std::byte{7};
    const bool is_same = descriptor != MappedMemory::no_file;
    EXPECT_EQ(other.bytes().back(), is_same ? std::byte{7} : std::byte{0});
  }
}

TEST(MappedMemory, MovingHandsItOver) {
  MappedMemory first(MappedMemory::no_file, 5);
  const std::byte* const begin = first.bytes().data();
  MappedMemory second(std::move(first));
  EXPECT_EQ(second.bytes().data(), begin);
  MappedMemory third;
  EXPECT_TRUE(third.bytes().empty());
  third = std::move(second);
  EXPECT_EQ(third.bytes().data(), begin);
  MappedMemory fourth(MappedMemory::no_file, 7);
  fourth = std::move(third);
  EXPECT_EQ(fourth.bytes().data(), begin);
  EXPECT_TRUE(third.bytes().empty());
}

TEST(MappedMemory, IsGivenBack) {
  const std::byte* begin = nullptr;
  {
    const MappedMemory memory(MappedMemory::no_file, mebibyte);
    begin = memory.bytes().data();
    take_pages(memory.bytes());
  }
  unsigned char is_there = 0;
  EXPECT_EQ(mincore(const_cast<std::byte*>(begin), 1, &is_there), -1);
}

TEST(MappedMemory, TellsWhatCannotBeMapped) {
  const auto refusal_of = [](int file, std::size_t bytes) -> std::string {
    try {
      const MappedMemory memory(file, bytes);
      return "";
    } catch (const std::system_error& refusal) {
      return refusal.what();
    }
  };
  EXPECT_THAT(refusal_of(MappedMemory::no_file, std::size_t{1} << 50U),
              HasSubstr("cannot map 1073741824 MiB: Cannot allocate memory"));
  EXPECT_THAT(refusal_of(1'000'000, 5 * mebibyte), HasSubstr("cannot map 5 MiB: Bad file"));
}

TEST(TakePages, TakesHugeOnesWhereTheyLieInTheRegionWhole) {
  const MemoryFile file(9 * mebibyte);
  for (const int descriptor : {MappedMemory::no_file, file.descriptor()}) {
    if (descriptor != MappedMemory::no_file && !collapses_files()) continue;
    const MappedMemory memory(descriptor, 9 * mebibyte);
    take_pages(memory.bytes().subspan(mebibyte, 6 * mebibyte));  // whole: [2, 4) and [4, 6)
    EXPECT_EQ(huge_bytes(memory.bytes()), 4 * mebibyte);
    EXPECT_TRUE(is_zero(memory.bytes()));
  }
}

TEST(TakePages, LeavesWhatIsNotInTheRegion) {
  const MemoryFile file(6 * mebibyte);
  const MappedMemory memory(file.descriptor(), 6 * mebibyte);
  memory.bytes()[mebibyte - 1] = std::byte{1};
  memory.bytes()[5 * mebibyte] = std::byte{2};
  take_pages(memory.bytes().subspan(mebibyte, 4 * mebibyte));
  EXPECT_EQ(memory.bytes()[mebibyte - 1], std::byte{1});
  EXPECT_EQ(memory.bytes()[5 * mebibyte], std::byte{2});
}

}  // namespace
}  // namespace rubato::collectives
