// See huge_pages.hpp.
#include "data/huge_pages.hpp"

#include <sys/mman.h>

#include <memory>

namespace rubato::data {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;  // of x86-64

#ifndef MADV_COLLAPSE  // which Debian 12's C library does not name yet
constexpr int MADV_COLLAPSE = 25;
#endif

}  // namespace

void prefer_huge_pages(std::span<const std::byte> memory) {
  void* begin = const_cast<std::byte*>(memory.data());
  std::size_t room = memory.size();
  if (std::align(huge_page_bytes, huge_page_bytes, begin, room) == nullptr) return;
  const std::size_t whole_pages = room / huge_page_bytes * huge_page_bytes;
  madvise(begin, whole_pages, MADV_HUGEPAGE);
  madvise(begin, whole_pages, MADV_COLLAPSE);
}

}  // namespace rubato::data
