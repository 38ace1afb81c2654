// Files in memory, and how much of what is mapped lies in huge pages.
#pragma once

#include <cstddef>
#include <span>

namespace rubato::collectives {

// A file in memory of so many bytes, as long as this lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::size_t bytes);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// How many bytes lie in huge pages of the mappings that begin in this one, as /proc/self/smaps
// says.
std::size_t huge_bytes(std::span<const std::byte> mapping);

// Whether this system puts pages of a file in memory together at all.
bool collapses_files();

}  // namespace rubato::collectives
