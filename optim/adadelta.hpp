// Adadelta (Zeiler 2012, arXiv:1212.5701, algorithm 1), with a rate in front, as PyTorch has it.
//
// With d = c (k g + weight_decay w), c and k the update's gradient scale and clip:
//
//   q <- rho q + (1 - rho) d^2                  average squared gradient
//   x = sqrt(u + epsilon) / sqrt(q + epsilon) d
//   u <- rho u + (1 - rho) x^2                  average squared step
//   w <- w - lr x
//
// The step has the units of the parameters whatever the gradient's: a gradient that is larger or
// smaller all the time gives the same steps. What the scaling rules rest on, that a rate goes with
// a gradient's size, does not hold here; so the constant rule is the only one it goes with. Each
// element is computed alone, in T, so slices may be cut anywhere.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/optimizer.hpp"

namespace rubato::optim {

template <class T>
class Adadelta final : public Optimizer<T> {
 public:
  // Throws std::invalid_argument: rho outside [0, 1), weight decay negative or not finite, epsilon
  // not above 0 in T.
  explicit Adadelta(const OptimizerOptions& options);

  std::vector<std::string> state_names() const override;  // {"square_avg", "acc_delta"}
  void begin_update(const UpdateRate& rate) override;
  void update_slice(std::span<T> parameters, std::span<const T> gradient,
                    std::span<const std::span<T>> state) const override;

  std::vector<NamedScalar> scalars() const override;  // none
  void restore_scalars(const std::vector<NamedScalar>& scalars) override;

 private:
  OptimizerOptions options_;
  UpdateRate rate_;
};

}  // namespace rubato::optim
