#include "collectives/mapped_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace rubato::collectives {

namespace {

#ifndef MADV_COLLAPSE  // which Debian 12's C library does not name yet
constexpr int MADV_COLLAPSE = 25;
#endif

// What of it are whole huge pages.
std::span<std::byte> huge_pages_in(std::span<std::byte> region) {
  void* begin = region.data();
  std::size_t room = region.size();
  if (std::align(huge_page_bytes, huge_page_bytes, begin, room) == nullptr) return {};
  return {static_cast<std::byte*>(begin), room / huge_page_bytes * huge_page_bytes};
}

}  // namespace

MappedMemory::MappedMemory(int file, std::size_t bytes) {
  const auto map = [&](void* address, std::size_t size, int protection, int flags, int of_file) {
    void* const begin = mmap(address, size, protection, flags, of_file, 0);
    if (begin == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(),
                              "cannot map " + std::to_string(bytes >> 20U) + " MiB");
    }
    return std::span(static_cast<std::byte*>(begin), size);
  };
  MappedMemory memory;  // gives back the addresses if their memory is refused
  const std::size_t alignment = pages_of(bytes);
  memory.reserved_ = map(nullptr, bytes + alignment, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, no_file);
  void* begin = memory.reserved_.data();
  std::size_t room = memory.reserved_.size();
  std::align(alignment, bytes, begin, room);
  const int kind = file == no_file ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  memory.bytes_ = map(begin, bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file);
  swap(memory);
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept { swap(other); }

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  MappedMemory(std::move(other)).swap(*this);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (!reserved_.empty()) munmap(reserved_.data(), reserved_.size());
}

void MappedMemory::swap(MappedMemory& other) noexcept {
  std::swap(reserved_, other.reserved_);
  std::swap(bytes_, other.bytes_);
}

void take_pages(std::span<std::byte> zeros) {
  const std::span<std::byte> huge = huge_pages_in(zeros);
  if (!huge.empty()) {
    madvise(huge.data(), huge.size(), MADV_HUGEPAGE);  // of files mostly not heard
    for (std::size_t i = 0; i < huge.size(); i += huge_page_bytes) huge[i] = std::byte{0};
    madvise(huge.data(), huge.size(), MADV_COLLAPSE);
  }
  std::ranges::fill(zeros, std::byte{0});
}

}  // namespace rubato::collectives
