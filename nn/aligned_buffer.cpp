#include "nn/aligned_buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace rubato::nn {

namespace {

bool has_huge_pages(std::size_t bytes, Pages pages) {
  return pages == Pages::huge && bytes >= huge_page_bytes;
}

std::align_val_t alignment_of(std::size_t bytes, Pages pages) {
  return std::align_val_t{has_huge_pages(bytes, pages) ? huge_page_bytes : cache_line_bytes};
}

}  // namespace

void* allocate_aligned(std::size_t bytes, Pages pages) {
  void* const begin = ::operator new(bytes, alignment_of(bytes, pages));
  if (has_huge_pages(bytes, pages)) {
    // Whole ones, or the last would take memory that nobody asked for. A system that has none to
    // give refuses, and nothing is lost.
    madvise(begin, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
  }
  return begin;
}

void release_aligned(void* begin, std::size_t bytes, Pages pages) noexcept {
  ::operator delete(begin, alignment_of(bytes, pages));
}

}  // namespace rubato::nn
