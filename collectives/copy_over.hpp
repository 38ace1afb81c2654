// Writing where other cores have read.
//
// An ordinary store there waits until the line has come from the other core, one line after the
// other. Telling the processor ahead (write_prefetch.hpp) overlaps the waits, which helps less
// where the cores share no cache. The string instruction overwrites whole lines without fetching
// them, from a few KiB on, and unlike streaming stores leaves them in the writer's cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace rubato::collectives {

// Copies; the two must not overlap. A barrier after it, as after an ordinary store, makes the copy
// visible to other ranks.
template <class T>
void copy_over(std::span<const T> source, T* target) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::size_t bytes = source.size_bytes();
#if defined(__x86_64__)
  // The C library's memcpy does so as well, but which of its versions does on which processors,
  // and from what size on, varies.
  constexpr std::size_t least_bytes = 2048;  // with fewer, nothing is gained
  if (bytes >= least_bytes) {
    const T* from = source.data();
    asm volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(bytes) : : "memory");
    return;
  }
#endif
  if (bytes > 0) std::memcpy(target, source.data(), bytes);
}

// Lets change(copy) change a copy of the elements, at most so many of them, and copies that over
// them.
template <std::size_t most_elements, class T, class Change>
void change_over(std::span<T> elements, const Change& change) {
  alignas(64) std::array<T, most_elements> storage;
  const std::span<T> copy = std::span(storage).first(elements.size());
  std::ranges::copy(elements, copy.begin());
  change(copy);
  copy_over<T>(copy, elements.data());
}

}  // namespace rubato::collectives
