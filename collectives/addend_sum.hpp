// The sum of several arrays, element by element, in the order of the arrays: ((a0 + a1) + a2) + ...
//
// The order is fixed, so the result depends on no rank, slice or compiler. Up to four arrays are
// added in one pass; each further one is added to the result, which is still in the cache (callers
// pass blocks).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "collectives/loop_prefetch.hpp"

namespace rubato::collectives {

template <class T>
void add_to(T* __restrict sum, const T* __restrict a, std::size_t size) {
  const auto pass = [=](std::size_t from, std::size_t elements, const T* __restrict piece) {
    for (std::size_t i = 0; i < elements; ++i) sum[from + i] += piece[i];
  };
  for_each_prefetched<T>(size, pass, a);
}

template <class T, class... Ts>
void sum_pieces(std::size_t size, T* __restrict sum, const Ts* __restrict... pieces) {
  for (std::size_t i = 0; i < size; ++i) sum[i] = (... + pieces[i]);
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
  const auto pass = [=](std::size_t from, std::size_t elements, const auto*... pieces) {
    sum_pieces(elements, sum + from, pieces...);
  };
  switch (first_pass) {
    case 1:
      return for_each_prefetched<T>(size, pass, a);
    case 2:
      return for_each_prefetched<T>(size, pass, a, b);
    case 3:
      return for_each_prefetched<T>(size, pass, a, b, c);
    default:
      for_each_prefetched<T>(size, pass, a, b, c, d);
  }
  for (std::size_t further = first_pass; further < addends.size(); ++further) {
    add_to(sum, addends[further] + begin, size);
  }
}

}  // namespace rubato::collectives
