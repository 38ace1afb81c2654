#include "nn/aligned_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tests/huge_pages.hpp"

namespace rubato::nn {
namespace {

TEST(AlignedBuffer, BeginsOnACacheLineAndKeepsItsPlaceWhileItSuffices) {
  AlignedBuffer<float> buffer;
  EXPECT_TRUE(buffer.all().empty());
  const float* const begin = buffer.first(1000).data();
  EXPECT_EQ(address_of(begin) % cache_line_bytes, 0U);
  EXPECT_EQ(buffer.first(1).data(), begin);
  EXPECT_EQ(buffer.all().size(), 1000U);
}

TEST(AlignedBuffer, LargeMemoryBeginsOnAHugePage) {
  constexpr std::size_t floats_of_a_page = huge_page_bytes / sizeof(float);
  for (const std::size_t floats : {floats_of_a_page, 3 * floats_of_a_page + 5}) {
    AlignedBuffer<float> buffer;
    EXPECT_EQ(address_of(buffer.first(floats).data()) % huge_page_bytes, 0U) << floats;
    std::ranges::fill(buffer.all(), 1.0F);
    EXPECT_EQ(std::ranges::count(buffer.all(), 1.0F), static_cast<std::ptrdiff_t>(floats));
  }
}

TEST(AlignedBuffer, WholeHugePagesAreAskedForAndNoMore) {
  constexpr std::size_t whole = 20 * huge_page_bytes;  // too much for memory used before
  constexpr std::size_t bytes = whole + huge_page_bytes / 2;
  AlignedBuffer<std::byte> buffer;
  const std::uintptr_t begin = address_of(buffer.first(bytes).data());
  const bool can_be_asked = huge_pages_can_be_asked_for();
  EXPECT_EQ(is_to_be_huge(begin), can_be_asked);
  EXPECT_EQ(is_to_be_huge(begin + whole - 1), can_be_asked);
  EXPECT_FALSE(is_to_be_huge(begin + whole));
}

TEST(AlignedBuffer, WhereItSaysSoNoHugePagesAreAskedFor) {
  constexpr std::size_t bytes = 20 * huge_page_bytes;
  AlignedBuffer<std::byte, Pages::small> buffer;
  const std::uintptr_t begin = address_of(buffer.first(bytes).data());
  EXPECT_EQ(begin % cache_line_bytes, 0U);
  EXPECT_FALSE(is_to_be_huge(begin));
  EXPECT_FALSE(is_to_be_huge(begin + bytes / 2));
}

TEST(AlignedBuffer, IsEmptyAfterItHasBeenMoved) {
  AlignedBuffer<float> former;
  const float* const begin = former.first(huge_page_bytes).data();
  AlignedBuffer<float> buffer = std::move(former);
  EXPECT_EQ(buffer.first(1).data(), begin);
  EXPECT_TRUE(former.all().empty());  // NOLINT(bugprone-use-after-move): it says so
}

}  // namespace
}  // namespace rubato::nn
