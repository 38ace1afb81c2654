// See used_memory.hpp. proc(5) says where memory is mapped, mincore(2) which pages of it are there.
#include "runtime/used_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "data/huge_pages.hpp"

namespace rubato::runtime {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;  // of x86-64

// Of a huge page's rest, memory is taken that nobody uses.
constexpr std::ptrdiff_t enough_pages = huge_page_bytes / page_bytes * 3 / 4;

void* address(std::uintptr_t of) {
  return reinterpret_cast<void*>(of);  // NOLINT(*-reinterpret-cast)
}

bool is_mostly_used(std::uintptr_t begin) {
  std::array<unsigned char, huge_page_bytes / page_bytes> pages{};
  if (mincore(address(begin), huge_page_bytes, pages.data()) != 0) return false;
  return std::ranges::count_if(pages, [](unsigned page) { return (page & 1U) != 0; }) >=
         enough_pages;
}

void put_together(std::uintptr_t begin, std::uintptr_t end) {
  data::prefer_huge_pages({static_cast<const std::byte*>(address(begin)), end - begin});
}

// As many at once as lie side by side: the system makes ready for each call on all its processors.
void put_used_pages_together(std::uintptr_t begin, std::uintptr_t end) {
  begin = (begin + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  std::uintptr_t used_begin = begin;
  for (; begin + huge_page_bytes <= end; begin += huge_page_bytes) {
    if (is_mostly_used(begin)) continue;
    if (used_begin < begin) put_together(used_begin, begin);
    used_begin = begin + huge_page_bytes;
  }
  if (used_begin < begin) put_together(used_begin, begin);
}

}  // namespace

void put_used_memory_into_huge_pages() {
  std::ifstream mappings("/proc/self/maps");
  // 55ef2f52e000-55ef2f800000 rw-p 00000000 00:00 0   [heap]
  for (std::string line; std::getline(mappings, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string rights, offset, device, inode, name;
    words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> name;
    const bool is_private = rights.starts_with("rw") && rights.ends_with('p');
    const bool is_plain = name.empty() || name == "[heap]";
    if (is_private && is_plain) put_used_pages_together(begin, end);
  }
}

void UsedMemory::add(double seconds) {
  constexpr double enough_seconds = 1;
  const bool is_done = seconds_ >= enough_seconds;
  seconds_ += seconds;
  if (!is_done && seconds_ >= enough_seconds) put_used_memory_into_huge_pages();
}

}  // namespace rubato::runtime
