// The header's two estimates, averaged. The two unknowns come from E|g_i|^2 = s + T/b_i and
// E|mean|^2 = s + T/B, whatever the sizes b_i; weighing by b_i/B makes the estimate of T the
// between-minibatch sum of squares, the least noisy unbiased one for normal noise. What it does not
// do: minibatches of different sizes under BatchNorm have different losses, and that difference
// counts as noise.
#include "optim/gradient_noise.hpp"

#include <algorithm>
#include <cmath>

#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"

namespace rubato::optim {
namespace {

constexpr double kept_per_reference_batch = 0.999;
constexpr double smallest_variance = 1e-6;

const std::vector<std::string> scalar_names = {"variance_sum", "square_sum", "weight_sum"};

}  // namespace

GradientNoise::GradientNoise(double reference_batch) : reference_batch_(reference_batch) {
  require_above_zero("reference batch", reference_batch);
}

void GradientNoise::observe(const GradientFacts& facts) {
  if (facts.minibatches < 2) return;
  const auto n = static_cast<double>(facts.minibatches);
  const double trace = (facts.weighted_square - facts.mean_square) * facts.batch_size / (n - 1);
  const double square = (n * facts.mean_square - facts.weighted_square) / (n - 1);

  const double kept = std::pow(kept_per_reference_batch, facts.batch_size / reference_batch_);
  variance_sum_ = kept * variance_sum_ + (1 - kept) * (trace / reference_batch_);
  square_sum_ = kept * square_sum_ + (1 - kept) * square;
  weight_sum_ = kept * weight_sum_ + (1 - kept);
}

double GradientNoise::variance() const noexcept {
  return weight_sum_ == 0 ? 0 : std::max(variance_sum_ / weight_sum_, smallest_variance);
}

double GradientNoise::square() const noexcept {
  return weight_sum_ == 0 ? 1 : std::max(square_sum_ / weight_sum_, 0.0);
}

double GradientNoise::noise_scale() const noexcept {
  return reference_batch_ * variance() / square();
}

double GradientNoise::gain(double scale) const noexcept {
  return (variance() + square()) / (variance() / scale + square());
}

std::vector<NamedScalar> GradientNoise::scalars() const {
  return {{scalar_names[0], variance_sum_},
          {scalar_names[1], square_sum_},
          {scalar_names[2], weight_sum_}};
}

void GradientNoise::restore_scalars(const std::vector<NamedScalar>& scalars) {
  const std::vector<double> values = scalar_values("gradient noise", scalar_names, scalars);
  variance_sum_ = values[0];
  square_sum_ = values[1];
  weight_sum_ = values[2];
}

}  // namespace rubato::optim
