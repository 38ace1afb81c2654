// Squared norms over blocks, in an order that no rank, slice or instruction set changes.
//
// Elements are taken in rows of 8 lanes; lane j adds up the squares of elements j, j + 8, ... of a
// block in double; then the lanes of a block are added in order, and the blocks in theirs.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstring>
#include <span>

namespace rubato::optim {

// Elements over which norms are summed as one unit; a multiple of the tensors' alignment.
inline constexpr std::size_t norm_block_elements = 4096;

// Two groups of four lanes, spelled in the compilers' vector types at AVX's width: left to itself,
// g++ 12 makes of the plain loop one that is four times slower, and of wider vectors one that is
// eight times slower.
inline constexpr std::size_t lane_group = 4;
inline constexpr std::size_t lanes = 2 * lane_group;
using Floats = float __attribute__((vector_size(lane_group * sizeof(float))));
using Doubles = double __attribute__((vector_size(lane_group * sizeof(double))));

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

inline double sum_in_order(const Doubles& low, const Doubles& high) {
  return ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
}

// One group of lanes: mean = float(sum * factor), whose squares are added to `square`.
template <class Sums, class T>
void take_mean_of_lanes(const Sums& sum, T factor, float* mean, Doubles& square) {
  const Floats values = __builtin_convertvector(sum * factor, Floats);
  store_lanes(values, mean);
  const Doubles wide = widened(values);
  square += wide * wide;
}

// mean[i] = float(sum[i] * factor); returns the squared norm of `mean`. At most one block, and
// whole rows of lanes. T: float, double.
template <class T>
double take_mean(std::span<const T> sum, T factor, float* mean);

}  // namespace rubato::optim
