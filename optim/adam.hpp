// Adam (Kingma and Ba 2014, arXiv:1412.6980, algorithm 1) and AdamW (Loshchilov and Hutter 2017,
// arXiv:1711.05101, algorithm 2).
//
// With t the number of updates, this one included, lr, c and k its learning rate, gradient scale
// and gradient clip:
//
//   Adam    d = c (k g + weight_decay w)
//   AdamW   d = c k g,  and first  w <- w (1 - lr weight_decay)
//   both    a <- beta1 a + (1 - beta1) d,   q <- beta2 q + (1 - beta2) d^2
//           w <- w - lr / (1 - beta1^t) * a / (sqrt(q) / sqrt(1 - beta2^t) + epsilon)
//
// Epsilon stands outside the root and after the correction, as in PyTorch. AdamW's decay follows
// the rate as scaled, so a rule that raises the rate raises the decay with it. A larger batch makes
// sqrt(q) smaller by itself, so the rate factors made for SGD (linear, adascale) overshoot here;
// the square root is the usual choice (Malladi et al. 2022, arXiv:2205.10287).
//
// As a preconditioner P = sqrt(q) / sqrt(1 - beta2^t) + epsilon, with q and t as the last update
// left them (Qiao et al. 2021, Pollux, OSDI, section 3.1). It is settled after 5 updates: made of
// fewer squares, 1 / q has no finite variance, and single elements would make the whole norm.
//
// Momentum, its form and nesterov are options of SGD and unused here. Each element is computed
// alone, in T, so slices may be cut anywhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "optim/optimizer.hpp"
#include "optim/preconditioner.hpp"

namespace rubato::optim {

enum class AdamDecay { in_gradient, decoupled };  // Adam, AdamW

template <class T>
class Adam final : public Optimizer<T>, public Preconditioner<T> {
 public:
  // Throws std::invalid_argument: a beta outside [0, 1), weight decay negative or not finite,
  // epsilon not above 0 in T.
  Adam(const OptimizerOptions& options, AdamDecay decay);

  std::vector<std::string> state_names() const override;  // {"exp_avg", "exp_avg_sq"}
  void begin_update(const UpdateRate& rate) override;
  void update_slice(std::span<T> parameters, std::span<const T> gradient,
                    std::span<const std::span<T>> state) const override;

  std::vector<NamedScalar> scalars() const override;  // "step": t
  void restore_scalars(const std::vector<NamedScalar>& scalars) override;

  std::uint64_t updates() const override;
  bool is_settled() const override;
  std::size_t state_index() const override;  // of exp_avg_sq
  void inverse_scales(std::span<const T> squares, std::span<T> scales) const override;

 private:
  void set_step(double step);  // t, and what follows from it

  OptimizerOptions options_;
  AdamDecay decay_;
  UpdateRate rate_;
  double step_ = 0;
  double first_correction_ = 0;  // 1 - beta1^t
  double root_correction_ = 0;   // 1 / sqrt(1 - beta2^t)
};

}  // namespace rubato::optim
