// The gradient noise scale from the minibatches of one update, right for any mixture of their
// sizes.
//
// For n unbiased minibatch gradients g_i of b_i samples each, B = sum b_i samples in all, with
//   Q = sum (b_i/B) |g_i|^2   and   Y = |sum (b_i/B) g_i|^2,
//   T = (Q - Y) B/(n-1)       and   s = (n Y - Q)/(n-1)
// are unbiased for T, the trace of the covariance of one sample's gradient, and s, the squared norm
// of the true gradient: the weighted form of McCandlish et al. 2018, arXiv:1812.06162, appendix
// A.1. Equal sizes give AdaScale's own estimator, arXiv:2007.05105, section 3.3.
//
// The averages are exponential with a horizon in reference batches (each update keeps 0.999^S),
// bias-corrected, and of raw values, clipped when read: clipping first biases s upward. Nothing is
// rescaled when the batch size changes, because T and s do not depend on it.
#pragma once

#include <cstddef>
#include <vector>

#include "optim/optimizer.hpp"

namespace rubato::optim {

// What one update says about its gradient.
struct GradientFacts {
  double batch_size = 0;        // B, samples
  std::size_t minibatches = 0;  // n, non-empty ones
  double weighted_square = 0;   // Q: sum (b_i/B) |g_i|^2 of the minibatches' MEAN gradients
  double mean_square = 0;       // Y: |mean gradient|^2
};

class GradientNoise {
 public:
  explicit GradientNoise(double reference_batch);

  // Takes in one update, of finite numbers: a run stops at the first gradient that is not. n < 2
  // says nothing about the variance: the averages are held.
  void observe(const GradientFacts& facts);

  // v = T / reference batch, at least 1e-6; 0 before the first observation.
  double variance() const noexcept;
  // s, at least 0; 1 before the first observation.
  double square() const noexcept;
  // Reference batch * v / s, in samples; infinite for s = 0.
  double noise_scale() const noexcept;
  // (v + s) / (v/S + s), in [1, S], exactly 1 at S = 1, and below 1 for S < 1. AdaScale,
  // section 3.2 of arXiv:2007.05105.
  double gain(double scale) const noexcept;

  std::vector<NamedScalar> scalars() const;
  void restore_scalars(const std::vector<NamedScalar>& scalars);

 private:
  double reference_batch_;
  double variance_sum_ = 0;
  double square_sum_ = 0;
  double weight_sum_ = 0;
};

}  // namespace rubato::optim
