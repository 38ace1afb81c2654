// The header's two estimates, averaged. The two unknowns come from E|g_i|^2 = s + T/b_i and
// E|mean|^2 = s + T/B, whatever the sizes b_i; weighing by b_i/B makes the estimate of T the
// between-minibatch sum of squares, the least noisy unbiased one for normal noise. What it does not
// do: minibatches of different sizes under BatchNorm have different losses, and that difference
// counts as noise.
#include "optim/gradient_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"

namespace rubato::optim {
namespace {

constexpr double kept_per_reference_batch = 0.999;
constexpr double smallest_variance = 1e-6;
constexpr double standard_deviations = 1.959963984540054;  // 95 % of a normal distribution

struct NamedSum {
  const char* name;
  double NoiseAverages::*sum;
};

constexpr std::array<NamedSum, 6> named_sums = {{
    {"variance_sum", &NoiseAverages::variance},
    {"square_sum", &NoiseAverages::square},
    {"weight_sum", &NoiseAverages::weight},
    {"variance_square_sum", &NoiseAverages::variance_square},
    {"cross_product_sum", &NoiseAverages::cross_product},
    {"square_square_sum", &NoiseAverages::square_square},
}};

constexpr const char* differenced_prefix = "differenced.";

std::vector<NamedScalar> scalars_of(const NoiseAverages& averages) {
  std::vector<NamedScalar> scalars;
  for (const auto& [name, sum] : named_sums) scalars.push_back({name, averages.*sum});
  return scalars;
}

bool is_finite(const GradientFacts& facts) {
  return std::isfinite(facts.weighted_square) && std::isfinite(facts.mean_square);
}

}  // namespace

std::vector<std::string> single_minibatch_names() { return {"hold", "difference"}; }

SingleMinibatch single_minibatch(const std::string& name) {
  if (name == "hold") return SingleMinibatch::hold;
  if (name == "difference") return SingleMinibatch::difference;
  throw_unknown_name("treatment of single minibatches", name, single_minibatch_names());
}

GradientFacts facts_of_both(const GradientFacts& facts, double kept_batch_size) {
  const double both = kept_batch_size + facts.batch_size;
  const double kept_part = kept_batch_size / both;
  const double part = facts.batch_size / both;
  GradientFacts result;
  result.batch_size = both;
  result.minibatches = 2;
  result.weighted_square = kept_part * facts.kept_square + part * facts.mean_square;
  result.mean_square = kept_part * kept_part * facts.kept_square +
                       2 * kept_part * part * facts.kept_product + part * part * facts.mean_square;
  return result;
}

GradientNoise::GradientNoise(double reference_batch, SingleMinibatch single)
    : reference_batch_(reference_batch), single_(single) {
  require_above_zero("reference batch", reference_batch);
}

void GradientNoise::observe(const GradientFacts& facts) {
  if (facts.minibatches < 2 || !is_finite(facts)) return;
  differenced_ = {};
  add(measured_, facts);
}

void GradientNoise::observe_difference(const GradientFacts& facts) {
  if (is_finite(facts)) add(differenced_, facts);
}

void GradientNoise::add(NoiseAverages& averages, const GradientFacts& facts) {
  const auto n = static_cast<double>(facts.minibatches);
  const double trace = (facts.weighted_square - facts.mean_square) * facts.batch_size / (n - 1);
  const double square = (n * facts.mean_square - facts.weighted_square) / (n - 1);

  const double kept = std::pow(kept_per_reference_batch, facts.batch_size / reference_batch_);
  measured_.fade(kept);
  differenced_.fade(kept);
  averages.add(1 - kept, trace / reference_batch_, square);
}

double GradientNoise::variance() const noexcept {
  const NoiseAverages sums = all();
  return sums.weight == 0 ? 0 : std::max(sums.variance / sums.weight, smallest_variance);
}

double GradientNoise::square() const noexcept {
  const NoiseAverages sums = all();
  return sums.weight == 0 ? 1 : std::max(sums.square / sums.weight, 0.0);
}

double GradientNoise::noise_scale() const noexcept {
  return reference_batch_ * variance() / square();
}

NoiseInterval GradientNoise::noise_scale_interval() const noexcept {
  const NoiseInterval ratio = ratio_interval(all(), standard_deviations);
  return {reference_batch_ * ratio.low, reference_batch_ * ratio.high};
}

double GradientNoise::gain(double scale) const noexcept {
  return (variance() + square()) / (variance() / scale + square());
}

double GradientNoise::efficiency(double scale) const noexcept { return gain(scale) / scale; }

std::vector<NamedScalar> GradientNoise::scalars() const {
  std::vector<NamedScalar> scalars = scalars_of(measured_);
  if (single_ == SingleMinibatch::hold) return scalars;
  for (NamedScalar& scalar : add_prefix(differenced_prefix, scalars_of(differenced_))) {
    scalars.push_back(std::move(scalar));
  }
  return scalars;
}

void GradientNoise::restore_scalars(const std::vector<NamedScalar>& scalars) {
  std::vector<std::string> names;
  for (const NamedScalar& scalar : this->scalars()) names.push_back(scalar.name);
  const std::vector<double> values = scalar_values("gradient noise", names, scalars);
  for (std::size_t i = 0; i < named_sums.size(); ++i) {
    measured_.*named_sums[i].sum = values[i];
    if (single_ == SingleMinibatch::hold) continue;
    differenced_.*named_sums[i].sum = values[named_sums.size() + i];
  }
}

}  // namespace rubato::optim
