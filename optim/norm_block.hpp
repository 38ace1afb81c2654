// Squared norms over blocks, in an order that no rank, slice or instruction set changes.
//
// Elements are taken in rows of 16 lanes; lane j adds up the squares of elements j, j + 16, ... of
// a block in double; then the lanes of a block are added in order, and the blocks in theirs.
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

#include "collectives/read_prefetch.hpp"

namespace rubato::optim {

// Elements over which norms are summed as one unit; a multiple of the tensors' alignment.
inline constexpr std::size_t norm_block_elements = 4096;

// Groups of four lanes, spelled in the compilers' vector types at AVX's width: left to itself, g++
// 12 makes of the plain loop one that is four times slower, and of wider vectors one that is eight
// times slower. Four groups, because an addition waits for the one before it in its lane for as
// long as three others take to begin.
inline constexpr std::size_t lane_group = 4;
inline constexpr std::size_t lane_groups = 4;
inline constexpr std::size_t lanes = lane_groups * lane_group;
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
#ifdef __AVX__
  return _mm256_cvtps_pd(values);
#else
  return __builtin_convertvector(values, Doubles);
#endif
}

// sum += a * b of widened floats. Their products are exact, so that fused or not the bits are the
// same.
inline void add_product(const Doubles& a, const Doubles& b, Doubles& sum) {
#ifdef __FMA__
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
  const auto of_group = [&](std::size_t group) {
    const Doubles& lane = sums[group];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
  };
  return (of_group(0) + of_group(1)) + (of_group(2) + of_group(3));
}

// One group of lanes: mean = float(sum * factor), whose squares are added to `square`.
template <class Sums, class T>
void take_mean_of_lanes(const Sums& sum, T factor, float* mean, Doubles& square) {
  const Floats values = __builtin_convertvector(sum * factor, Floats);
  store_lanes(values, mean);
  const Doubles wide = widened(values);
  add_product(wide, wide, square);
}

// mean[i] = float(sum[i] * factor); returns the squared norm of `mean`. At most one block, and
// whole rows of lanes. T: float, double.
template <class T>
double take_mean(std::span<const T> sum, T factor, float* mean);

}  // namespace rubato::optim
