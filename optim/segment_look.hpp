// What is seen of a segment of a gradient in passing: its squared norm and its largest magnitude,
// an integer that serves as maximum and as inf/NaN flag alike. Whoever looks, the bits are the
// same.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "optim/gradient_passes.hpp"
#include "optim/norm_block.hpp"

namespace rubato::optim {
inline namespace RUBATO_LANES {

inline constexpr std::size_t bits_group = 2 * lane_group;
using Bits = std::uint32_t __attribute__((vector_size(bits_group * sizeof(std::uint32_t))));
using Largest = std::array<Bits, lanes / bits_group>;

// What the lanes carry through a segment.
struct LookState {
  LaneSums square{};
  Largest largest{};
};

// One instruction. Of the plain expression g++ 12 makes four.
inline Bits larger(const Bits& a, const Bits& b) {
#ifdef __AVX512F__
  return std::bit_cast<Bits>(
      _mm512_maskz_max_epu32(0xffff, std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return std::bit_cast<Bits>(
      _mm256_max_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#else
  return a > b ? a : b;
#endif
}

// In vectors of floats, which are twice as wide as those of their norm.
inline void note_largest_of_row(const float* gradient, Largest& largest) {
  for (std::size_t part = 0; part < largest.size(); ++part) {
    largest[part] =
        larger(largest[part], load_lanes<Bits>(gradient + part * bits_group) & 0x7fffffffU);
  }
}

inline std::uint32_t largest_of(const Largest& parts) {
  std::uint32_t largest = 0;
  for (const Bits& part : parts) {
    for (std::size_t i = 0; i < bits_group; ++i) largest = std::max(largest, part[i]);
  }
  return largest;
}

// A group of lanes as addends of sums of T, and its squares.
template <class T>
inline Lanes<T> measured_addends(const float* gradient, double constant, Doubles& square) {
  const auto g = load_lanes<Floats>(gradient);
  const Doubles wide = widened(g);
  add_product(wide, wide, square);
  return addends<T>(g, constant);
}

inline SegmentFacts facts_of(const LookState& state) {
  return {sum_in_order(state.square), largest_of(state.largest)};
}

}  // namespace RUBATO_LANES
}  // namespace rubato::optim
