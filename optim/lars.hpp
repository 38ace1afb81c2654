// Layer-wise adaptive rate scaling (LARS; You et al. 2017, arXiv:1708.03888, algorithm 1): each
// tensor's step follows from how large its weights are beside their gradient.
//
// With m the momentum, wd the weight decay, lr, c and k the update's learning rate, gradient scale
// and gradient clip, and norms over a whole tensor:
//
//   lambda = trust |w| / (k |g| + wd |w| + epsilon),   d = c (k g + wd w)
//
//   paper      v <- m v + lr lambda d              w <- w - v
//   unscaled   u <- m u + d                        w <- w - lr lambda u
//   clip       u <- m u + min(lambda / (c lr), 1) d   w <- w - lr u
//   study      as unscaled, with lambda = trust |w| / (k |g| + m |w| + epsilon)
//
// `paper` gives each gradient the rate of its own update, as the paper's algorithm 1 does; under
// `unscaled` the rate of the last one weighs the whole history (what most code bases do). They
// differ whenever a rate changes, and lambda changes always. `clip` never steps further than plain
// SGD would (LARC). g is the mean gradient: of a sum, |g| and wd |w| would not stand in proportion.
//
// `study` is how a published comparison on CIFAR-10 (batches of 128 to 8192) got its numbers. It
// has the momentum where the weight decay belongs, which makes lambda at most trust / m: once |g|
// is small beside |w| it is plain SGD at that constant share of the rate. It is here so that its
// numbers can be understood, and not for use.
//
// One-dimensional tensors (biases, scales and shifts of normalisations) step at the plain rate,
// lambda = 1 (in `clip`, the limit), and without weight decay; `study` treats them as all others.
// Where a norm is 0 the rate is the plain one too, in every form: a tensor that begins with zeros
// could never leave them otherwise.
//
// The steps' length does not follow the gradient's: a larger batch, whose mean gradient is shorter
// because its noise is averaged out, takes steps that are longer by the square root of AdaScale's
// gain (scaling_rules.hpp) before any rule has a say. So of the rules that look at the noise
// `adamscale`, whose factor is that root, is the one that makes the gain whole; `adascale`
// overshoots, as it does with Adam. Both are of the plain gradient's noise.
//
// 20 bytes per float parameter and update with momentum, 12 without; norms add none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/layerwise.hpp"

namespace rubato::optim {

template <class T>
class Lars final : public LayerwiseOptimizer<T> {
 public:
  // Throws std::invalid_argument: trust not above 0, momentum outside [0, 1), weight decay or
  // epsilon negative or not finite.
  explicit Lars(const OptimizerOptions& options);

  std::vector<std::string> state_names() const override;  // {"momentum"}, or none
  void begin_update(const UpdateRate& rate) override;

  bool makes_directions() const override { return false; }
  double make_direction(const TensorPart<T>&, bool) const override { return 0; }
  double step(const TensorPart<T>& part, const TensorFacts& tensor) const override;

  std::vector<NamedScalar> scalars() const override { return {}; }
  void restore_scalars(const std::vector<NamedScalar>& scalars) override;

 private:
  OptimizerOptions options_;
  UpdateRate rate_;
};

// lambda, as above; nothing where the tensor steps at the plain rate.
struct LocalRate {
  bool is_plain = true;
  double value = 1;
};
LocalRate lars_rate(const OptimizerOptions& options, const TensorFacts& tensor,
                    double gradient_clip = 1);

}  // namespace rubato::optim
