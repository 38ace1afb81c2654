// Vectors of eight floats for kernels that are taken with AVX2 alone. (Those of wide_vectors.hpp
// are as wide as the file that includes them is compiled for.)
#pragma once

#ifdef __FMA__
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstring>

namespace rubato::nn {

// Whether the build has AVX2's fused products, without which such kernels are slow.
#ifdef __FMA__
inline constexpr bool has_fused_lanes = true;
#else
inline constexpr bool has_fused_lanes = false;
#endif

inline constexpr std::size_t lanes = 8;
using Lanes [[gnu::vector_size(lanes * sizeof(float))]] = float;

// Vectors are passed by reference: where they need two registers, by value is an ABI of its own.
inline void load(const float* from, Lanes& values) { std::memcpy(&values, from, sizeof values); }
inline void store(const Lanes& values, float* to) { std::memcpy(to, &values, sizeof values); }

// sum += a * b, rounded once where the build's processors can.
inline void add_product(float a, const Lanes& b, Lanes& sum) {
#ifdef __FMA__
  sum = _mm256_fmadd_ps(_mm256_set1_ps(a), b, sum);
#else
  sum += a * b;
#endif
}

}  // namespace rubato::nn
