// Files in memory, and whether they can have huge pages.
#pragma once

#include <cstddef>

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

// Whether this system puts pages of a file in memory together at all.
bool collapses_files();

}  // namespace rubato::collectives
