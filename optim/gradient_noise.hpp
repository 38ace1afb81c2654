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
//
// An update of one minibatch has nothing to compare within. It holds the averages, or (difference)
// is compared with the one before it, if that had one minibatch too: the same formula with n = 2,
// each gradient used once. The drift of the gradient from one to the other then counts as noise, so
// what was found that way is dropped as soon as an update has minibatches to compare again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "optim/noise_averages.hpp"
#include "optim/optimizer.hpp"

namespace rubato::optim {

// What becomes of an update with one minibatch.
enum class SingleMinibatch { hold, difference };
// By name; throws std::invalid_argument, listing the valid names.
SingleMinibatch single_minibatch(const std::string& name);
std::vector<std::string> single_minibatch_names();

// What one update says about its gradient.
struct GradientFacts {
  double batch_size = 0;        // B, samples
  std::size_t minibatches = 0;  // n, non-empty ones
  double weighted_square = 0;   // Q: sum (b_i/B) |g_i|^2 of the minibatches' MEAN gradients
  double mean_square = 0;       // Y: |mean gradient|^2
  // Where a mean gradient p of an earlier update was kept, and this one has one minibatch:
  double kept_square = 0;   // |p|^2
  double kept_product = 0;  // <p, mean gradient>
};

// The facts of two updates of one minibatch each, as if they were one of two: `facts` of the later,
// and the batch size of the one whose gradient was kept.
GradientFacts facts_of_both(const GradientFacts& facts, double kept_batch_size);

class GradientNoise {
 public:
  explicit GradientNoise(double reference_batch, SingleMinibatch single = SingleMinibatch::hold);

  // Takes in one update. n < 2 says nothing about the variance: the averages are held; as they are
  // by numbers that are not finite (a run stops at the first gradient that is not, but its norm in
  // another metric may overflow).
  void observe(const GradientFacts& facts);
  // Takes in what facts_of_both() says. Precondition: `single` is difference.
  void observe_difference(const GradientFacts& facts);

  // v = T / reference batch, at least 1e-6; 0 before the first observation.
  double variance() const noexcept;
  // s, at least 0; 1 before the first observation.
  double square() const noexcept;
  // Reference batch * v / s, in samples; infinite for s = 0.
  double noise_scale() const noexcept;
  // Of the noise scale, with 95 % confidence, in samples (noise_averages.hpp).
  NoiseInterval noise_scale_interval() const noexcept;
  // (v + s) / (v/S + s), in [1, S], exactly 1 at S = 1, and below 1 for S < 1. AdaScale,
  // section 3.2 of arXiv:2007.05105.
  double gain(double scale) const noexcept;
  // gain(S) / S: what a sample of a batch of S reference batches brings, compared with one of the
  // reference batch. Pollux (Qiao et al. 2021, OSDI), equation 7; above 1 for S < 1.
  double efficiency(double scale) const noexcept;

  std::vector<NamedScalar> scalars() const;
  void restore_scalars(const std::vector<NamedScalar>& scalars);

 private:
  void add(NoiseAverages& averages, const GradientFacts& facts);
  NoiseAverages all() const noexcept { return measured_ + differenced_; }

  double reference_batch_;
  SingleMinibatch single_;
  NoiseAverages measured_;     // within updates
  NoiseAverages differenced_;  // between updates, since the last of those
};

}  // namespace rubato::optim
