// A run of an optimizer on the small problem of the reference trajectories: four parameters, six
// updates, a rate that changes, and a gradient that depends on the parameters, so that every error
// grows.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "optim/optimizer.hpp"

namespace rubato::optim {

constexpr std::array<double, 6> trajectory_rates = {0.2, 0.4, 0.8, 0.8, 0.4, 0.1};

template <class T>
class Trajectory {
 public:
  explicit Trajectory(Optimizer<T>& optimizer)
      : optimizer_(optimizer), state_(optimizer.state_names().size(), std::vector<T>(4, T(0))) {}

  // One update; returns the parameters after it.
  const std::vector<T>& update(const UpdateRate& rate) {
    const std::vector<T> gradient = this->gradient();
    const std::vector<std::span<T>> state(state_.begin(), state_.end());
    optimizer_.begin_update(rate);
    optimizer_.update_slice(parameters_, gradient, state);
    updates_ += 1;
    return parameters_;
  }

  const std::vector<T>& parameters() const { return parameters_; }

 private:
  std::vector<T> gradient() const {
    std::vector<T> gradient;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const double wave = std::sin(1.7 * static_cast<double>(i) + 0.9 * updates_);
      gradient.push_back(
          static_cast<T>(0.3 * static_cast<double>(parameters_[i]) + 0.05 * wave + 0.02));
    }
    return gradient;
  }

  Optimizer<T>& optimizer_;
  std::vector<T> parameters_ = {T(0.5), T(-0.25), T(0.125), T(1)};
  std::vector<std::vector<T>> state_;
  double updates_ = 0;
};

inline void expect_near_relative(std::span<const double> actual, std::span<const double> expected,
                                 double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance * std::abs(expected[i])) << "element " << i;
  }
}

}  // namespace rubato::optim
