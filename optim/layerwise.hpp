// Optimizers that give each tensor a step length of its own, which follows from the tensor's norms:
// LARS and LAMB.
//
// A tensor is done in parts, in any order and by any ranks. What depends on the whole tensor is
// handed in: squared norms that somebody else has added up (layerwise_update.hpp). So a part's
// norms are returned by what has the elements in hand anyway: |u|^2 by the pass that makes the
// direction u, and |w|^2 of the new weights by the step, which the next update wants to know.
#pragma once

#include <cstddef>
#include <span>

#include "optim/optimizer.hpp"

namespace rubato::optim {

// What is known of a whole tensor when it steps.
struct TensorFacts {
  double weight_square = 0;     // |w|^2 before the update
  double gradient_square = 0;   // |g|^2 of the mean gradient, before any clip or scale
  double direction_square = 0;  // |u|^2, where the optimizer makes directions
  bool is_vector = false;       // one-dimensional: a bias, a scale or a shift
};

// Some elements of a tensor; all spans have the same size.
template <class T>
struct TensorPart {
  std::span<T> parameters;
  std::span<const T> gradient;
  std::span<const std::span<T>> state;
};

template <class T>
class LayerwiseOptimizer : public Optimizer<T> {
 public:
  // Whether all of a tensor must have passed make_direction() before any of it steps.
  virtual bool makes_directions() const = 0;
  // Advances what is averaged of the part's gradient, leaves its parameters, and returns the part's
  // |u|^2. Nothing to do, and 0, where no directions are made.
  virtual double make_direction(const TensorPart<T>& part, bool is_vector) const = 0;
  // Steps; returns |w|^2 of the part's new parameters. The squares are sums in the order of
  // squared_norm.hpp.
  virtual double step(const TensorPart<T>& part, const TensorFacts& tensor) const = 0;

  // A slice is a whole tensor of several dimensions here, and measured in passes of its own.
  void update_slice(std::span<T> parameters, std::span<const T> gradient,
                    std::span<const std::span<T>> state) const final;
};

}  // namespace rubato::optim
