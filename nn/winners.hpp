// Who is the largest in a window of a max-pool, and so gets the window's gradient: of one channel,
// written without branches for loops that compilers turn into vector code, or of a vector of them.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "nn/floats.hpp"

namespace rubato::nn {

// One for each value.
using Places [[gnu::vector_size(vector_floats * sizeof(std::int32_t))]] = std::int32_t;
template <class Values>
using PlacesOf = std::conditional_t<std::is_same_v<Values, float>, std::int32_t, Places>;

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

inline void challenge(const Floats& candidate, std::int32_t place, Floats& best,
                      Places& winner) noexcept {
  const Places is_larger = (candidate > best) | (candidate != candidate);
  best = is_larger ? candidate : best;
  winner = is_larger ? place - Places{} : winner;
}

inline Floats routed(const Floats& gradient, const Places& winner, std::int32_t place) noexcept {
  return std::bit_cast<Floats>(std::bit_cast<Places>(gradient) & (winner == place));
}

}  // namespace rubato::nn
