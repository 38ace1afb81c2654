#include "huge_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include "collectives/mapped_memory.hpp"

namespace rubato::collectives {

MemoryFile::MemoryFile(std::size_t bytes)
    : descriptor_(memfd_create("huge_pages_test", MFD_CLOEXEC)) {
  EXPECT_EQ(ftruncate(descriptor_, static_cast<off_t>(bytes)), 0);
}

MemoryFile::~MemoryFile() { close(descriptor_); }

std::size_t huge_bytes(std::span<const std::byte> mapping) {
  std::ifstream smaps("/proc/self/smaps");
  std::size_t kibibytes = 0;
  bool is_of_it = false;
  for (std::string line; std::getline(smaps, line);) {
    const std::string first_word = line.substr(0, line.find(' '));
    if (first_word.find('-') != std::string::npos) {
      const std::size_t offset =
          std::stoull(line, nullptr, 16) - reinterpret_cast<std::uintptr_t>(mapping.data());
      is_of_it = offset < mapping.size();
    }
    if (is_of_it && (first_word == "AnonHugePages:" || first_word == "ShmemPmdMapped:")) {
      kibibytes += std::stoull(line.substr(first_word.size()));
    }
  }
  return kibibytes * 1024;
}

bool collapses_files() {
  const MemoryFile file(huge_page_bytes);
  const MappedMemory memory(file.descriptor(), huge_page_bytes);
  std::ranges::fill(memory.bytes(), std::byte{1});
  const int collapse = 25;  // MADV_COLLAPSE
  return madvise(memory.bytes().data(), huge_page_bytes, collapse) == 0;
}

}  // namespace rubato::collectives
