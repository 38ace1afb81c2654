#include "nn/aligned_buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace rubato::nn {

namespace {

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes < huge_page_bytes ? cache_line_bytes : huge_page_bytes};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* const begin = ::operator new(bytes, alignment_of(bytes));
  if (bytes >= huge_page_bytes) {
    // Whole ones, or the last would take memory that nobody asked for. A system that has none to
    // give refuses, and nothing is lost.
    madvise(begin, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
  }
  return begin;
}

void release_aligned(void* begin, std::size_t bytes) noexcept {
  ::operator delete(begin, alignment_of(bytes));
}

}  // namespace rubato::nn
