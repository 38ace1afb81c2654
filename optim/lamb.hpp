// LAMB (You et al. 2019, arXiv:1904.00962, algorithm 2): Adam's direction, with a length that
// follows from the tensor's weights.
//
// With t the number of updates, this one included, lr, c and k its learning rate, gradient scale
// and gradient clip, and norms over a whole tensor:
//
//   a <- beta1 a + (1 - beta1) c k g,   q <- beta2 q + (1 - beta2) (c k g)^2
//   u = a / (1 - beta1^t) / (sqrt(q) / sqrt(1 - beta2^t) + epsilon) + weight_decay w
//   w <- w - lr |w| / |u| u
//
// The paper's function phi of |w| is |w| itself here. One-dimensional tensors (biases, scales and
// shifts of normalisations) have no weight decay, and step with |w| / |u| = 1, as does a tensor of
// which either norm is 0. Code bases that first limit the gradient's norm, to 1 as a rule, do what
// a limit of the gradient does here (elastic_optimizer.hpp).
//
// u is made twice, to be measured and to be stepped along: 40 bytes per float parameter and update,
// of which the second 16 come from a cache where the tensor is small (layerwise_update.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/layerwise.hpp"

namespace rubato::optim {

struct LambCorrections {
  double first = 1;  // 1 / (1 - beta1^t)
  double root = 1;   // 1 / sqrt(1 - beta2^t)
};

template <class T>
class Lamb final : public LayerwiseOptimizer<T> {
 public:
  // Throws std::invalid_argument: a beta outside [0, 1), weight decay negative or not finite,
  // epsilon not above 0 in T.
  explicit Lamb(const OptimizerOptions& options);

  std::vector<std::string> state_names() const override;  // {"exp_avg", "exp_avg_sq"}
  void begin_update(const UpdateRate& rate) override;

  bool makes_directions() const override { return true; }
  double make_direction(const TensorPart<T>& part, bool is_vector) const override;
  double step(const TensorPart<T>& part, const TensorFacts& tensor) const override;

  std::vector<NamedScalar> scalars() const override;  // "step": t
  void restore_scalars(const std::vector<NamedScalar>& scalars) override;

 private:
  OptimizerOptions options_;
  UpdateRate rate_;
  double step_ = 0;
  LambCorrections corrections_;
};

}  // namespace rubato::optim
