// Who is the largest in a window of a max-pool, and so gets the window's gradient. Without
// branches, for loops over channels that compilers turn into vector code.
#pragma once

#include <bit>
#include <cstdint>

namespace rubato::nn {

// Takes `candidate` where it is larger; a NaN wins against all numbers, so that it stays visible.
inline void challenge(float candidate, std::int32_t place, float& best,
                      std::int32_t& winner) noexcept {
  const bool is_larger = (candidate > best) | (candidate != candidate);
  best = is_larger ? candidate : best;
  winner = is_larger ? place : winner;
}

// The gradient where `winner` is `place`, else 0. On the bits, since from a plain conditional g++
// makes masked stores, which some CPUs carry out element by element.
inline float routed(float gradient, std::int32_t winner, std::int32_t place) noexcept {
  const std::int32_t mask = -static_cast<std::int32_t>(winner == place);
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(gradient) & mask);
}

}  // namespace rubato::nn
