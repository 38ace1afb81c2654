// The gradient noise scale from the minibatches of one update, right for any mixture of their sizes.
//
// For unbiased minibatch gradients g_i of b_i samples each, B = sum b_i, n of them, with Q = sum (b_i/B) |g_i|^2 and
// Y = |sum (b_i/B) g_i|^2:   T = (Q - Y) B/(n-1),   s = (n Y - Q)/(n-1)
// are unbiased for T, the trace of the covariance of one sample's gradient, and s = |true gradient|^2 (weighted form of
// McCandlish et al. 2018, arXiv:1812.06162, appendix A.1; equal sizes give AdaScale's estimator, arXiv:2007.05105, section 3.3).
// Averages are bias-corrected and exponential with a horizon in reference batches (theta = 0.999^S), of raw values, clipped when
// read: clipping first biases s upward.
#pragma once

#include <cstddef>
#include <vector>

#include "optim/optimizer.hpp"

namespace rubato::optim {

// What one update says about its gradient.
struct GradientFacts {
  double batch_size = 0;       // B, samples
  std::size_t minibatches = 0; // n, non-empty ones
  double weighted_square = 0;  // Q: sum (b_i/B) |g_i|^2 of the minibatches' MEAN gradients
  double mean_square = 0;      // Y: |mean gradient|^2
};

class GradientNoise {
 public:
  explicit GradientNoise(double reference_batch);

  // Takes in one update. n < 2 says nothing about the variance: the averages are held.
  void observe(const GradientFacts& facts);

  double variance() const noexcept;   // v = T / reference batch, at least 1e-6 (0 before the first observation)
  double square() const noexcept;     // s, at least 0 (1 before the first observation)
  double noise_scale() const noexcept;  // reference batch * v / s, in samples
  // (v + s) / (v/S + s), in [1, S]; exactly 1 at S = 1. AdaScale, equation in section 3.2 of arXiv:2007.05105. For S < 1 it is < 1.
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
