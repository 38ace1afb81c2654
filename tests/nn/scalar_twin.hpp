// What the scalar twin of a kernel of our own is made of.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {

#ifdef __FMA__
inline constexpr bool rounds_once = true;  // a product and its sum
#else
inline constexpr bool rounds_once = false;
#endif

inline void add_product_of(float a, float b, float& sum) {
  sum = rounds_once ? std::fma(a, b, sum) : sum + a * b;
}

inline std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  fill_random(values, seed);
  return values;
}

}  // namespace rubato::nn
