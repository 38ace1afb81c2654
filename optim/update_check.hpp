// Guards of every optimizer's begin_update() and update_slice(): a rate and buffers that make sense
// together.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

#include "optim/optimizer.hpp"
#include "optim/option_check.hpp"

namespace rubato::optim {

inline void check_update_rate(const UpdateRate& rate) {
  require_at_least_zero("learning rate of an update", rate.learning_rate);
  require_at_least_zero("gradient scale of an update", rate.gradient_scale);
  require_value(rate.gradient_clip >= 0 && rate.gradient_clip <= 1, "gradient clip of an update",
                rate.gradient_clip, "a number from 0 to 1");
}

// Throws std::invalid_argument unless all spans have the size of `parameters` and `state` has
// `state_count` of them.
template <class T>
void check_slices(std::span<T> parameters, std::span<const T> gradient,
                  std::span<const std::span<T>> state, std::size_t state_count) {
  bool is_consistent = gradient.size() == parameters.size() && state.size() == state_count;
  for (const std::span<T>& buffer : state) {
    is_consistent = is_consistent && buffer.size() == parameters.size();
  }
  if (is_consistent) return;
  throw std::invalid_argument("update of a slice of " + std::to_string(parameters.size()) +
                              " parameters: expected a gradient and " +
                              std::to_string(state_count) + " state buffers of that size");
}

}  // namespace rubato::optim
