// Stochastic gradient descent with momentum in three forms, Nesterov's step and weight decay.
//
// With d = k g + weight_decay w (decay as an L2 term of the loss), m the momentum, lr, c and k the
// update's learning rate, gradient scale and gradient clip:
//
//   torch        u <- m u + c d                         w <- w - lr u
//     nesterov   the same                               w <- w - lr (c d + m u)
//   v            v <- m v + lr c d                      w <- w - v
//   v-corrected  v <- m (lr / previous lr) v + lr c d   w <- w - v
//
// The forms differ when the rate changes. `torch` weighs the whole history with the new rate; `v`
// (LARS, arXiv:1708.03888, algorithm 1) leaves each old gradient the rate it came with, and the
// correction (Goyal et al. 2017, arXiv:1706.02677, section 3, remark 2) makes it take the steps
// of `torch` again, to rounding. It cannot undo a rate of 0: that empties the buffer, which `torch`
// would have kept.
//
// Momentum 0 needs no buffer, and all forms are one. Each element is computed alone, in T, so
// slices may be cut anywhere.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/optimizer.hpp"

namespace rubato::optim {

template <class T>
class Sgd final : public Optimizer<T> {
 public:
  // Throws std::invalid_argument: momentum outside [0, 1), weight decay negative or not finite,
  // nesterov without momentum or with another form than torch.
  explicit Sgd(const OptimizerOptions& options);

  std::vector<std::string> state_names() const override;  // {"momentum"}, or none
  void begin_update(const UpdateRate& rate) override;
  void update_slice(std::span<T> parameters, std::span<const T> gradient,
                    std::span<const std::span<T>> state) const override;

  std::vector<NamedScalar> scalars() const override;  // v-corrected: "previous_rate"
  void restore_scalars(const std::vector<NamedScalar>& scalars) override;

 private:
  bool needs_previous_rate() const;
  std::vector<std::string> scalar_names() const;

  OptimizerOptions options_;
  UpdateRate rate_;
  double rate_ratio_ = 1;     // learning rate of this update / of the one before
  double previous_rate_ = 0;  // 0: there was none
};

}  // namespace rubato::optim
