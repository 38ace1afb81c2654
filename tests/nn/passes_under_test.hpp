// A convolution's passes in all widths, and what their scalar twins are made of.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "nn/convolution_passes.hpp"
#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {

#ifdef __FMA__
inline constexpr bool rounds_once = true;  // a product and its sum
#else
inline constexpr bool rounds_once = false;
#endif

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float untouched = 1e30F;  // by a pass that has no business there

inline void add_product_of(float a, float b, float& sum) {
  sum = rounds_once ? std::fma(a, b, sum) : sum + a * b;
}

inline std::vector<const ConvolutionPasses*> passes_of_all_widths() {
  std::vector<const ConvolutionPasses*> all = {convolution_passes_of_build()};
  if (convolution_passes_of_512_bits()) all.push_back(convolution_passes_of_512_bits());
  return all;
}

inline std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  fill_random(values, seed);
  return values;
}

inline std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

}  // namespace rubato::nn
