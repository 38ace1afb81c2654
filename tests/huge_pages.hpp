// Huge pages as proc(5) tells of them: which this process has asked for, which it has.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

namespace rubato {

inline std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);  // NOLINT(*-reinterpret-cast)
}

// Calls visit(begin, end, line) for each line that tells of a mapping.
template <typename Visit>
void for_each_line_of_smaps(const Visit& visit) {
  std::ifstream smaps("/proc/self/smaps");
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::uintptr_t first = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash && dash == '-') {
      begin = first;
      words >> end;
    } else {
      visit(begin, end, line);
    }
  }
}

// Whether the system has been asked for huge pages where the address lies.
inline bool is_to_be_huge(std::uintptr_t address) {
  bool is_asked_for = false;
  for_each_line_of_smaps([&](std::uintptr_t begin, std::uintptr_t end, const std::string& line) {
    if (address < begin || address >= end || !line.starts_with("VmFlags:")) return;
    is_asked_for = (line + ' ').find(" hg ") != std::string::npos;
  });
  return is_asked_for;
}

// How many bytes lie in huge pages of the mappings that begin in `memory`.
inline std::size_t huge_bytes(std::span<const std::byte> memory) {
  std::size_t kibibytes = 0;
  for_each_line_of_smaps([&](std::uintptr_t begin, std::uintptr_t, const std::string& line) {
    if (begin - address_of(memory.data()) >= memory.size()) return;
    const std::string name = line.substr(0, line.find(' '));
    if (name == "AnonHugePages:" || name == "ShmemPmdMapped:") {
      kibibytes += std::stoull(line.substr(name.size()));
    }
  });
  return kibibytes * 1024;
}

// Whether this system has huge pages that one can ask for.
inline bool huge_pages_can_be_asked_for() {
  return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
}

// Whether it puts a huge page's worth of written memory together at once.
inline bool puts_together(std::span<std::byte> whole_huge_page) {
  constexpr int collapse = 25;  // MADV_COLLAPSE
  std::ranges::fill(whole_huge_page, std::byte{1});
  return madvise(whole_huge_page.data(), whole_huge_page.size(), collapse) == 0;
}

// The same of memory of a process alone.
inline bool puts_private_memory_together() {
  constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;
  void* const begin = mmap(nullptr, 2 * huge_page_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::size_t above = address_of(begin) % huge_page_bytes;
  auto* const page = static_cast<std::byte*>(begin) + (huge_page_bytes - above);
  const bool does = puts_together({page, huge_page_bytes});
  munmap(begin, 2 * huge_page_bytes);
  return does;
}

}  // namespace rubato
