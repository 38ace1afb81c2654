#include "memory_file.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collectives/mapped_memory.hpp"
#include "tests/huge_pages.hpp"

namespace rubato::collectives {

MemoryFile::MemoryFile(std::size_t bytes) : descriptor_(memfd_create("memory_file", MFD_CLOEXEC)) {
  EXPECT_EQ(ftruncate(descriptor_, static_cast<off_t>(bytes)), 0);
}

MemoryFile::~MemoryFile() { close(descriptor_); }

bool collapses_files() {
  const MemoryFile file(huge_page_bytes);
  return puts_together(MappedMemory(file.descriptor(), huge_page_bytes).bytes());
}

}  // namespace rubato::collectives
