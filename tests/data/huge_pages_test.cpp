#include "data/huge_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/huge_pages.hpp"

namespace rubato::data {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;
constexpr std::size_t many_bytes = 20 * huge_page_bytes;  // too much for memory used before

std::vector<std::uint8_t> pattern() {
  std::vector<std::uint8_t> values(many_bytes);
  for (std::size_t i = 0; i < many_bytes; ++i) values[i] = static_cast<std::uint8_t>(i % 251);
  return values;
}

TEST(HugePages, AreAskedForWhereTheyLieInWrittenMemoryWhichKeepsItsContent) {
  const std::vector<std::uint8_t> values = pattern();
  const std::size_t middle = many_bytes / 2;
  ASSERT_FALSE(is_to_be_huge(address_of(&values[middle])));
  const auto all = std::as_bytes(std::span(values));
  prefer_huge_pages(all.subspan(middle));
  const bool can_be_asked = huge_pages_can_be_asked_for();
  EXPECT_EQ(is_to_be_huge(address_of(&values[middle + huge_page_bytes])), can_be_asked);
  EXPECT_FALSE(is_to_be_huge(address_of(&values[middle - 1])));
  EXPECT_TRUE(values == pattern());
  if (puts_private_memory_together()) {
    EXPECT_GE(huge_bytes(all), many_bytes / 2 - huge_page_bytes);
  }
}

TEST(HugePages, AreNotAskedForInMemoryTooSmallToHoldOne) {
  std::vector<std::uint8_t> values(many_bytes);
  const auto all = std::as_bytes(std::span(values));
  prefer_huge_pages({});
  prefer_huge_pages(all.subspan(many_bytes / 2, huge_page_bytes - 1));
  EXPECT_FALSE(is_to_be_huge(address_of(&values[many_bytes / 2])));
  EXPECT_FALSE(is_to_be_huge(address_of(&values[many_bytes / 2 + huge_page_bytes - 2])));
}

TEST(HugePages, HoldZeros) {
  const auto zeros = zeros_in_huge_pages<float>(many_bytes / sizeof(float) + 1);
  EXPECT_EQ(zeros.size(), many_bytes / sizeof(float) + 1);
  EXPECT_EQ(std::ranges::count(zeros, 0.0F), static_cast<std::ptrdiff_t>(zeros.size()));
  EXPECT_EQ(is_to_be_huge(address_of(&zeros[zeros.size() / 2])), huge_pages_can_be_asked_for());
  EXPECT_TRUE(zeros_in_huge_pages<float>(0).empty());
}

}  // namespace
}  // namespace rubato::data
