// Memory mapped so that the system can give huge pages (2 MiB), of a file or of this process alone.
//
// Gradients do not fit into what a processor remembers of 4 KiB pages, and each miss costs a walk
// through page tables, on a virtual machine two. Files in /dev/shm have no huge pages by themselves
// (Debian's default); on Linux 6.1 and later they have them where a process asks for what it has
// already taken to be put together (MADV_COLLAPSE). Advice: where there are none to give, pages
// stay small.
#pragma once

#include <cstddef>
#include <span>

namespace rubato::collectives {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;

// The largest pages that memory of so many bytes has: huge ones from half of one on.
constexpr std::size_t pages_of(std::size_t bytes) {
  return bytes < huge_page_bytes / 2 ? page_bytes : huge_page_bytes;
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// So many bytes in whole pages. A rest of half a huge page or more is worth one, which costs a MiB
// at most.
constexpr std::size_t in_whole_pages(std::size_t bytes) {
  return round_up(bytes, pages_of(bytes % huge_page_bytes));
}

class MappedMemory {
 public:
  static constexpr int no_file = -1;

  MappedMemory() = default;
  // Of the open file's first bytes, which it must have, or of zeros that no other process sees;
  // more than none. It begins at a multiple of pages_of(bytes). Throws std::system_error.
  MappedMemory(int file, std::size_t bytes);
  MappedMemory(MappedMemory&&) noexcept;  // the source is left empty
  MappedMemory& operator=(MappedMemory&&) noexcept;
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  void swap(MappedMemory& other) noexcept;

  std::span<std::byte> reserved_;  // addresses: bytes_ and what comes before and after
  std::span<std::byte> bytes_;
};

// Takes the pages of `zeros`, which nobody has written to, near this core; huge ones where they lie
// in it whole. Of a file, its memory must be there: else this is a bus error.
void take_pages(std::span<std::byte> zeros);

}  // namespace rubato::collectives
