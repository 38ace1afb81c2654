// The sum of several arrays, element by element, in the order of the arrays: ((a0 + a1) + a2) + ...
//
// The order is fixed, so the result depends on no rank, slice or compiler. Up to four arrays are
// added in one pass; each further one is added to the result block, which is still in the cache
// (callers pass blocks). Written so that g++ and clang++ at -O3 make vector loops of it.
#pragma once

#include <cstddef>
#include <span>

namespace rubato::collectives {

template <class T>
void add_to(T* __restrict sum, const T* __restrict addend, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    sum[i] += addend[i];
  }
}

// sum[i] = addends[0][begin + i] + addends[1][begin + i] + ... for i < size; `sum` overlaps none.
template <class T>
void sum_addends(std::span<const T* const> addends, std::size_t begin, std::size_t size,
                 T* __restrict sum) {
  const auto at = [&](std::size_t which) { return addends[which] + begin; };
  std::size_t added = 0;
  if (addends.size() >= 4) {
    const T *a = at(0), *b = at(1), *c = at(2), *d = at(3);
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] = ((a[i] + b[i]) + c[i]) + d[i];
    }
    added = 4;
  } else if (addends.size() == 3) {
    const T *a = at(0), *b = at(1), *c = at(2);
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] = (a[i] + b[i]) + c[i];
    }
    added = 3;
  } else if (addends.size() == 2) {
    const T *a = at(0), *b = at(1);
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] = a[i] + b[i];
    }
    added = 2;
  } else {
    const T* a = at(0);
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] = a[i];
    }
    added = 1;
  }
  for (; added < addends.size(); ++added) {
    add_to(sum, at(added), size);
  }
}

}  // namespace rubato::collectives
