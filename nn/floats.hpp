// A register full of floats, by the vector extension of g++ and clang: +, -, *, comparisons and ?:
// work on all of them, each rounded as the plain operation is. For loops that compilers leave
// scalar or whose sums they keep in memory.
#pragma once

#include <cstddef>
#include <cstring>

namespace rubato::nn {

#ifdef __AVX__
inline constexpr std::size_t vector_floats = 8;
#else
inline constexpr std::size_t vector_floats = 4;
#endif
using Floats [[gnu::vector_size(vector_floats * sizeof(float))]] = float;

// Of unaligned memory.
inline Floats load(const float* from) noexcept {
  Floats values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
inline void store(float* to, Floats values) noexcept { std::memcpy(to, &values, sizeof values); }

// 0 where `decider` is not positive; a NaN is let through.
inline Floats where_positive(Floats decider, Floats values) noexcept {
  return decider <= 0.0F ? Floats{} : values;
}

}  // namespace rubato::nn
