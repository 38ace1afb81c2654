// Fetching ahead what a loop is about to read, or to read and change.
//
// The processor does that by itself, but stops at the borders of pages and follows few arrays at a
// time. An update of Adam in memory takes 27 ms so, and 32 without; to read its four arrays and do
// no more takes 26. In the caches it costs a tenth of the shortest update at most.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "collectives/write_prefetch.hpp"

namespace rubato::collectives {

// Far enough for the memory's latency. What lies behind the end of an array is often the next
// block of it; where it is not, nothing is lost.
inline constexpr std::size_t prefetch_distance_bytes = 3072;

// An array whose elements are not const is also written, and may be what another core has read:
// fetched to be read, its lines would have to be asked for once more (write_prefetch.hpp).
template <class T>
void prefetch_line(T* element) {
  if constexpr (std::is_const_v<T>) {
    __builtin_prefetch(element);
  } else {
    prefetch_line_for_writing(element);
  }
}

// Calls use(begin, size, arrays + begin...) for one piece of the arrays after the other, and
// fetches later ones on the way. A `use` that loops over its `size` elements and takes them by
// restricted pointers becomes a vector loop; g++ 12 would unroll and leave scalar one of 16 steps
// or fewer.
template <class T, class Use, class... Arrays>
void for_each_prefetched(std::size_t size, const Use& use, Arrays*... arrays) {
  constexpr std::size_t piece = 32;
  constexpr std::size_t line = 64 / sizeof(T);
  constexpr std::size_t ahead = prefetch_distance_bytes / sizeof(T);
  std::size_t begin = 0;
  for (; begin + piece <= size; begin += piece) {
    for (std::size_t i = begin + ahead; i < begin + ahead + piece; i += line) {
      (prefetch_line(arrays + i), ...);
    }
    use(begin, piece, (arrays + begin)...);
  }
  if (begin < size) use(begin, size - begin, (arrays + begin)...);
}

// Copies what another core has written, which otherwise is waited for line after line. The two must
// not overlap.
template <class T>
void prefetched_copy(std::span<const T> source, T* target) {
  const auto copy = [=](std::size_t begin, std::size_t size, const T* __restrict piece) {
    for (std::size_t i = 0; i < size; ++i) target[begin + i] = piece[i];
  };
  for_each_prefetched<T>(source.size(), copy, source.data());
}

}  // namespace rubato::collectives
