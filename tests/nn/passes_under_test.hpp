// A convolution's passes in all widths.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "nn/convolution_passes.hpp"
#include "tests/nn/scalar_twin.hpp"

namespace rubato::nn {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float untouched = 1e30F;  // by a pass that has no business there

inline std::vector<const ConvolutionPasses*> passes_of_all_widths() {
  std::vector<const ConvolutionPasses*> all = {convolution_passes_of_build()};
  if (convolution_passes_of_512_bits()) all.push_back(convolution_passes_of_512_bits());
  return all;
}

inline std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

}  // namespace rubato::nn
