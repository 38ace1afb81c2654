#include "runtime/used_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <span>

#include "tests/huge_pages.hpp"

namespace rubato::runtime {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;
constexpr std::size_t all_pages = huge_page_bytes / page_bytes;  // 512

// So many huge pages' worth of fresh memory of this process, in small pages that nobody has used.
class Pieces {
 public:
  explicit Pieces(std::size_t count)
      : size_((count + 2) * huge_page_bytes),
        memory_(static_cast<std::byte*>(
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    const std::uintptr_t above = address_of(memory_) % huge_page_bytes;
    first_ = memory_ + (2 * huge_page_bytes - above);  // never beside what was mapped before
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() { munmap(memory_, size_); }

  std::span<std::byte> operator[](std::size_t piece) const {
    return {first_ + piece * huge_page_bytes, huge_page_bytes};
  }
  // Writes the first byte of each of its first small pages.
  void use(std::size_t piece, std::size_t small_pages) const {
    for (std::size_t i = 0; i < small_pages; ++i) (*this)[piece][i * page_bytes] = std::byte{7};
  }
  bool is_to_be_huge(std::size_t piece) const {
    const std::uintptr_t begin = address_of((*this)[piece].data());
    return rubato::is_to_be_huge(begin) && rubato::is_to_be_huge(begin + huge_page_bytes - 1);
  }

 private:
  std::size_t size_;
  std::byte* memory_;
  std::byte* first_;
};

TEST(UsedMemory, WhatIsMostlyUsedIsPutIntoHugePagesAndNothingElse) {
  const Pieces pieces(6);
  pieces.use(1, all_pages);
  pieces.use(2, 400);
  pieces.use(3, 360);
  pieces.use(5, all_pages);
  put_used_memory_into_huge_pages();
  const bool can_be_asked = huge_pages_can_be_asked_for();
  EXPECT_FALSE(pieces.is_to_be_huge(0));
  EXPECT_EQ(pieces.is_to_be_huge(1), can_be_asked);
  EXPECT_EQ(pieces.is_to_be_huge(2), can_be_asked);
  EXPECT_FALSE(pieces.is_to_be_huge(3));
  EXPECT_FALSE(pieces.is_to_be_huge(4));
  EXPECT_EQ(pieces.is_to_be_huge(5), can_be_asked);
  for (std::size_t i = 0; i < huge_page_bytes; ++i) {
    const bool is_written = i % page_bytes == 0 && i < 400 * page_bytes;
    ASSERT_EQ(pieces[2][i], std::byte(is_written ? 7 : 0)) << i;
  }
}

TEST(UsedMemory, IsPutIntoHugePagesOnceAfterASecondInAll) {
  const bool can_be_asked = huge_pages_can_be_asked_for();
  const Pieces pieces(3);
  pieces.use(0, all_pages);
  UsedMemory memory;
  for (int update = 0; update < 3; ++update) memory.add(0.3);
  EXPECT_FALSE(pieces.is_to_be_huge(0));
  memory.add(0.3);
  EXPECT_EQ(pieces.is_to_be_huge(0), can_be_asked);
  pieces.use(2, all_pages);
  memory.add(2);
  EXPECT_FALSE(pieces.is_to_be_huge(2));
}

}  // namespace
}  // namespace rubato::runtime
