// Copying into memory that another core reads next: with stores that go past the cache.
//
// An ordinary store to a cache line that another core has read must first take the line away from
// it, one line after the other: 27 ns a line, or 2.4 GB/s, was measured between two cores, against
// 30 GB/s for streaming stores, which only invalidate it. The price: whoever reads the line next,
// the writer too, misses its cache. So it is for arrays that no cache holds, and for what is handed
// to cores that share none with the writer, who does not read it there (optim/own_weights.hpp);
// copy_over.hpp serves the others better.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace rubato::collectives {

// Copies `source` to `target`, 16-byte aligned, which it must not overlap. A barrier after it, as
// after an ordinary store, makes the copy visible to other ranks.
template <class T>
void streaming_copy(std::span<const T> source, T* target) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::size_t copied = 0;
#if defined(__SSE2__)
  constexpr std::size_t step = sizeof(__m128i) / sizeof(T);
  const auto* const from = static_cast<const __m128i*>(static_cast<const void*>(source.data()));
  auto* const to = static_cast<__m128i*>(static_cast<void*>(target));
  const std::size_t steps = source.size() / step;
  for (std::size_t i = 0; i < steps; ++i) {
    _mm_stream_si128(to + i, _mm_loadu_si128(from + i));
  }
  _mm_sfence();  // streaming stores keep no order by themselves
  copied = steps * step;
#endif
  std::copy(source.begin() + static_cast<std::ptrdiff_t>(copied), source.end(), target + copied);
}

}  // namespace rubato::collectives
