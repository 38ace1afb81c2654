// Gradients of two dense weights with a bias between them, made of factors that are small integers:
// every product and sum is exact.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "optim/factor_exchange.hpp"
#include "optim/gradient_sync.hpp"

namespace rubato::optim::factored {

inline constexpr std::size_t parameter_elements = 12'288 + 48 + 10'000 + 16;
inline constexpr std::size_t total_elements = parameter_elements + 32;

inline std::vector<TensorRange> tensors() {
  return {{"first.weight", 0, 12'280, true},
          {"first.bias", 12'288, 40, true, 0, true},
          {"second.weight", 12'336, 10'000, true},
          {"second.bias", 22'336, 10, true, 0, true},
          {"norm.running_mean", parameter_elements, 30, false, 0.1}};
}
inline std::vector<FactoredTensor> factored_tensors() {
  return {{0, 0, 40, 307}, {2, 12'336, 100, 100}};
}

inline std::size_t samples_of(std::size_t slot) { return 2 + slot % 3; }

// Factor `which` (0: output gradients, 1: inputs) of a minibatch: numbers -3 ... 3.
inline std::vector<float> factor(std::size_t slot, const FactoredTensor& tensor,
                                 std::size_t which) {
  const std::size_t width = which == 0 ? tensor.outputs : tensor.inputs;
  std::vector<float> values(samples_of(slot) * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((i * (5 + which) + 3 * slot + tensor.tensor) % 7) - 3.0F;
  }
  return values;
}

inline void multiply(const FactoredTensor& tensor, std::span<const float> output_gradients,
                     std::span<const float> inputs, std::span<float> gradient) {
  std::ranges::fill(gradient, 0.0F);
  for (std::size_t s = 0; s < inputs.size() / tensor.inputs; ++s) {
    for (std::size_t o = 0; o < tensor.outputs; ++o) {
      for (std::size_t i = 0; i < tensor.inputs; ++i) {
        gradient[o * tensor.inputs + i] +=
            output_gradients[s * tensor.outputs + o] * inputs[s * tensor.inputs + i];
      }
    }
  }
}

// The whole flat gradient of a minibatch.
inline std::vector<float> gradient_of(std::size_t slot) {
  std::vector<float> gradient(total_elements);
  for (const TensorRange& tensor : tensors()) {
    for (std::size_t i = 0; i < tensor.size; ++i) {
      gradient[tensor.begin + i] = static_cast<float>((i + slot) % 11) - 5.0F;
    }
  }
  for (const FactoredTensor& tensor : factored_tensors()) {
    multiply(tensor, factor(slot, tensor, 0), factor(slot, tensor, 1),
             std::span(gradient).subspan(tensor.begin, tensor.size()));
  }
  return gradient;
}

}  // namespace rubato::optim::factored
