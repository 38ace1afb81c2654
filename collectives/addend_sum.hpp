// The sum of several arrays, element by element, in the order of the arrays: ((a0 + a1) + a2) + ...
//
// The order is fixed, so the result depends on no rank, slice or compiler. Up to four arrays are
// added in one pass; each further one is added to the result, which is still in the cache (callers
// pass blocks). Written so that g++ and clang++ at -O3 make vector loops of it; the prefetches
// carry the reading over page borders, where the processor's own prefetching stops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace rubato::collectives {

inline constexpr std::size_t prefetch_distance_bytes = 4096;

// Calls add(i) for all i < size, cache line by cache line, and prefetches the arrays on the way.
template <class T, class Add, class... Arrays>
void for_each_prefetched(std::size_t size, const Add& add, const Arrays*... arrays) {
  constexpr std::size_t line = 64 / sizeof(T);
  std::size_t i = 0;
  for (; i + line <= size; i += line) {
    (__builtin_prefetch(arrays + i + prefetch_distance_bytes / sizeof(T)), ...);
    for (std::size_t j = i; j < i + line; ++j) {
      add(j);
    }
  }
  for (; i < size; ++i) {
    add(i);
  }
}

template <class T>
void add_to(T* __restrict sum, const T* __restrict a, std::size_t size) {
  for_each_prefetched<T>(
      size, [=](std::size_t i) { sum[i] += a[i]; }, a);
}

// sum[i] = addends[0][begin + i] + addends[1][begin + i] + ... for i < size; `sum` overlaps none.
template <class T>
void sum_addends(std::span<const T* const> addends, std::size_t begin, std::size_t size,
                 T* __restrict sum) {
  const std::size_t first_pass = std::min<std::size_t>(addends.size(), 4);
  const auto at = [&](std::size_t which) {
    return addends[std::min(which, first_pass - 1)] + begin;
  };
  const T* const a = at(0);
  const T* const b = at(1);
  const T* const c = at(2);
  const T* const d = at(3);
  if (first_pass == 4) {
    for_each_prefetched<T>(
        size, [=](std::size_t i) { sum[i] = ((a[i] + b[i]) + c[i]) + d[i]; }, a, b, c, d);
  } else if (first_pass == 3) {
    for_each_prefetched<T>(
        size, [=](std::size_t i) { sum[i] = (a[i] + b[i]) + c[i]; }, a, b, c);
  } else if (first_pass == 2) {
    for_each_prefetched<T>(
        size, [=](std::size_t i) { sum[i] = a[i] + b[i]; }, a, b);
  } else {
    for_each_prefetched<T>(
        size, [=](std::size_t i) { sum[i] = a[i]; }, a);
  }
  for (std::size_t further = first_pass; further < addends.size(); ++further) {
    add_to(sum, addends[further] + begin, size);
  }
}

}  // namespace rubato::collectives
