// Elementwise loops that compilers vectorise. NaN passes through in both directions: a diverged run
// must not look healthy.
#include "nn/relu.hpp"

#include <cstddef>

namespace rubato::nn {

void relu(std::span<float> values) {
  for (float& value : values) value = value <= 0.0F ? 0.0F : value;
}

void relu_backward(std::span<const float> output, std::span<float> gradient) {
  const float* __restrict const out = output.data();
  float* __restrict const g = gradient.data();
  const std::size_t count = gradient.size();
  for (std::size_t i = 0; i < count; ++i) g[i] = out[i] <= 0.0F ? 0.0F : g[i];
}

}  // namespace rubato::nn
