// A slice may hold parameters, running statistics, or the end of the ones and the beginning of the
// others.
#include "optim/slice_update.hpp"

#include <algorithm>

namespace rubato::optim {

namespace {

// By squaring, so that the bits do not depend on a mathematical library.
double power(double base, std::size_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1U, base *= base) {
    if ((exponent & 1U) != 0) result *= base;
  }
  return result;
}

void move_statistics(const TensorRange& tensor, collectives::Slice slice, std::size_t minibatches,
                     std::span<const float> means, std::span<float> running) {
  const double kept = power(1 - tensor.statistic_weight, minibatches);
  const std::size_t begin = std::max(tensor.begin, slice.begin);
  const std::size_t end = std::min(tensor.begin + tensor.size, slice.end());
  for (std::size_t i = begin; i < end; ++i) {
    running[i] = static_cast<float>(kept * running[i] + (1 - kept) * means[i]);
  }
}

}  // namespace

void update_my_slice(const Optimizer<float>& optimizer, const GradientSync& sync,
                     std::size_t minibatches, const SharedState& state) {
  const collectives::Slice slice = sync.my_slice();
  const std::span<const float> gradient = sync.mean_gradient();
  if (slice.begin < sync.parameter_elements()) {
    const std::size_t size = std::min(slice.end(), sync.parameter_elements()) - slice.begin;
    std::vector<std::span<float>> slices;
    for (std::span<float> buffer : state.optimizer_state) {
      slices.push_back(buffer.subspan(slice.begin, size));
    }
    optimizer.update_slice(state.parameters.subspan(slice.begin, size),
                           gradient.subspan(slice.begin, size), slices);
  }
  for (const TensorRange& tensor : sync.tensors()) {
    if (!tensor.is_parameter) {
      move_statistics(tensor, slice, minibatches, gradient, state.parameters);
    }
  }
}

}  // namespace rubato::optim
