// Vectors of floats as wide as the including file is compiled for, and what passes in either width
// are made of. Only for convolution_passes_of_build.cpp and convolution_passes_of_512_bits.cpp.
//
// All that is inline here has a namespace of its own for each width: of inline functions of one
// name the linker keeps one for all files.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace rubato::nn {

#if defined(__AVX512F__)
#define RUBATO_WIDE wide_of_512_bits
#elif defined(__AVX__)
#define RUBATO_WIDE wide_of_256_bits
#else
#define RUBATO_WIDE wide_of_128_bits
#endif
inline namespace RUBATO_WIDE {

#if defined(__AVX512F__)
inline constexpr std::size_t wide_lanes = 16;
inline constexpr std::size_t vector_registers = 32;
#else
#ifdef __AVX__
inline constexpr std::size_t wide_lanes = 8;
#else
inline constexpr std::size_t wide_lanes = 4;
#endif
inline constexpr std::size_t vector_registers = 16;
#endif
using Wide = float __attribute__((vector_size(wide_lanes * sizeof(float))));

inline Wide load_wide(const float* from) {
  Wide values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
inline void store_wide(const Wide& values, float* to) { std::memcpy(to, &values, sizeof values); }

inline Wide in_all_lanes(float value) { return value - Wide{}; }

// sum += a * b, rounded once where the build's processors can.
inline void add_product(const Wide& a, const Wide& b, Wide& sum) {
#ifdef __AVX512F__
  sum = _mm512_fmadd_ps(a, b, sum);
#elif defined(__FMA__)
  sum = _mm256_fmadd_ps(a, b, sum);
#else
  sum += a * b;
#endif
}
inline void add_product(float a, const Wide& b, Wide& sum) {
#ifdef __AVX512F__
  sum = _mm512_fmadd_ps(_mm512_set1_ps(a), b, sum);
#elif defined(__FMA__)
  sum = _mm256_fmadd_ps(_mm256_set1_ps(a), b, sum);
#else
  sum += a * b;
#endif
}

// `lowest` where a sum is not above it; not a number stays what it is.
inline Wide at_least(float lowest, const Wide& sums) {
  return sums <= lowest ? in_all_lanes(lowest) : sums;
}

template <std::size_t count>
using Count = std::integral_constant<std::size_t, count>;

// use(0), use(1), ..., as constants: each with its own copy of the code, so that an array of sums
// stays in registers.
template <std::size_t count, class Use>
inline void for_each_index(const Use& use) {
  [&]<std::size_t... i>(std::index_sequence<i...>) { (use(Count<i>()), ...); }
  (std::make_index_sequence<count>());
}

}  // namespace RUBATO_WIDE
}  // namespace rubato::nn
