// Squared norms over blocks, in an order that no rank, slice or instruction set changes.
//
// Elements are taken in rows of 16 lanes; lane j adds up the squares of elements j, j + 16, ... of
// a block in double; then the lanes of a block are added in order, and the blocks in theirs.
//
// Lanes go by groups of a vector of doubles: of 256 bits, or of 512 in the files that are compiled
// for them (gradient_passes.hpp). These have a namespace of their own: of inline functions of one
// name the linker keeps one for all files.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "collectives/loop_prefetch.hpp"

namespace rubato::optim {

// Elements over which norms are summed as one unit; a multiple of the tensors' alignment.
inline constexpr std::size_t norm_block_elements = 4096;

inline constexpr std::size_t lanes = 16;

// mean[i] = float(sum[i] * factor); returns the squared norm of `mean`. At most one block, and
// whole rows of lanes. T: float, double.
template <class T>
double take_mean(std::span<const T> sum, T factor, float* mean);

#ifdef __AVX512F__
#define RUBATO_LANES lanes_of_512_bits
#else
#define RUBATO_LANES lanes_of_256_bits
#endif
inline namespace RUBATO_LANES {

// Groups spelled in the compilers' vector types: left to itself, g++ 12 makes of the plain loop one
// that is four times slower, and of wider vectors than the processor's one that is eight times
// slower. Several groups, because an addition waits for the one before it in its lane for as long
// as three others take to begin.
#ifdef __AVX512F__
inline constexpr std::size_t lane_group = 8;
#else
inline constexpr std::size_t lane_group = 4;
#endif
inline constexpr std::size_t lane_groups = lanes / lane_group;
using Floats = float __attribute__((vector_size(lane_group * sizeof(float))));
using Doubles = double __attribute__((vector_size(lane_group * sizeof(double))));
template <class T>
using Lanes = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;

// Begins to fetch the row that a pass over the array comes to some rows after this one.
template <class T>
void prefetch_row_after(const T* row) {
  constexpr std::size_t line = 64 / sizeof(T);
  constexpr std::size_t ahead = collectives::prefetch_distance_bytes / sizeof(T);
  for (std::size_t i = 0; i < lanes; i += line) __builtin_prefetch(row + ahead + i);
}

template <class Vector, class T>
Vector load_lanes(const T* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Vector, class T>
void store_lanes(const Vector& vector, T* to) {
  std::memcpy(to, &vector, sizeof vector);
}

// One instruction each. Of the compilers' own conversion g++ 12 makes two and two moves.
inline Doubles widened(const Floats& values) {
#ifdef __AVX512F__
  return _mm512_maskz_cvtps_pd(0xff, values);  // g++ 12 warns of the plain one's insides
#elif defined(__AVX__)
  return _mm256_cvtps_pd(values);
#else
  return __builtin_convertvector(values, Doubles);
#endif
}

// sum += a * b of widened floats. Their products are exact, so that fused or not the bits are the
// same.
inline void add_product(const Doubles& a, const Doubles& b, Doubles& sum) {
#ifdef __AVX512F__
  sum = _mm512_fmadd_pd(a, b, sum);
#elif defined(__FMA__)
  sum = _mm256_fmadd_pd(a, b, sum);
#else
  sum += a * b;
#endif
}

// Floats as addends of sums of T: as they are, or widened and rounded to the units of the exact sum
// (exact_units.hpp).
template <class T>
inline Lanes<T> addends(const Floats& values, double rounding_constant) {
  if constexpr (std::is_same_v<T, double>) {
    return (widened(values) + rounding_constant) - rounding_constant;
  } else {
    return values;
  }
}

// What the lanes have added up.
using LaneSums = std::array<Doubles, lane_groups>;

// use(0), use(1), ...: each with its own copy of the code, so that an array of groups stays in
// registers.
template <class Use>
inline void for_each_group(const Use& use) {
  [&]<std::size_t... group>(std::index_sequence<group...>) { (use(group), ...); }
  (std::make_index_sequence<lane_groups>());
}

inline double sum_in_order(const LaneSums& sums) {
  const auto lane = [&](std::size_t i) { return sums[i / lane_group][i % lane_group]; };
  const auto four_from = [&](std::size_t i) {
    return (lane(i) + lane(i + 1)) + (lane(i + 2) + lane(i + 3));
  };
  return (four_from(0) + four_from(4)) + (four_from(8) + four_from(12));
}

// One group of lanes: mean = float(sum * factor), whose squares are added to `square`.
template <class Sums, class T>
void take_mean_of_lanes(const Sums& sum, T factor, float* mean, Doubles& square) {
  const Floats values = __builtin_convertvector(sum * factor, Floats);
  store_lanes(values, mean);
  const Doubles wide = widened(values);
  add_product(wide, wide, square);
}

}  // namespace RUBATO_LANES

}  // namespace rubato::optim
