// The gain on synthetic gradients whose noise is known: within 2 % of the ideal for even, uneven
// and short minibatches and scales 2 to 32. The same bound is put to three formulas that look right
// and are not, so that it is seen to tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "optim/gradient_noise.hpp"

namespace rubato::optim {
namespace {

using Gradient = std::vector<double>;
using Sizes = std::vector<double>;  // samples of each minibatch of one update

double square_of(const Gradient& g) {
  return std::inner_product(g.begin(), g.end(), g.begin(), 0.0);
}

// Minibatch gradients around a true one: component k of one sample has a variance proportional to k
// + 1.
class GradientSource {
 public:
  GradientSource(std::size_t dimensions, double square, double trace, std::uint64_t seed)
      : random_(seed), truth_(dimensions, std::sqrt(square / static_cast<double>(dimensions))) {
    const auto size = static_cast<double>(dimensions);
    for (double k = 1; k <= size; ++k) {
      deviations_.push_back(std::sqrt(trace * k / (size * (size + 1) / 2)));
    }
  }

  Gradient mean_of(double samples) {
    Gradient gradient = truth_;
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      gradient[k] += deviations_[k] / std::sqrt(samples) * noise();
    }
    return gradient;
  }

  std::vector<Gradient> minibatches(const Sizes& sizes) {
    std::vector<Gradient> gradients;
    for (const double size : sizes) gradients.push_back(mean_of(size));
    return gradients;
  }

 private:
  // Uniform with variance 1, made by hand: the estimates need no normal noise, and the library's
  // distributions differ between compilers in speed and in numbers.
  double noise() {
    const double between_minus_one_and_one = static_cast<double>(random_() >> 11) * 0x1p-52 - 1;
    return std::sqrt(3.0) * between_minus_one_and_one;
  }

  std::mt19937_64 random_;
  Gradient truth_;
  std::vector<double> deviations_;
};

GradientFacts facts_of(const Sizes& sizes, const std::vector<Gradient>& gradients) {
  GradientFacts facts;
  facts.minibatches = sizes.size();
  facts.batch_size = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  Gradient mean(gradients[0].size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double weight = sizes[i] / facts.batch_size;
    facts.weighted_square += weight * square_of(gradients[i]);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += weight * gradients[i][k];
  }
  facts.mean_square = square_of(mean);
  return facts;
}

// Takes uneven minibatches for equal ones: the plain mean of their squared norms.
GradientFacts naive_facts(const Sizes& sizes, const std::vector<Gradient>& gradients) {
  GradientFacts facts = facts_of(sizes, gradients);
  facts.weighted_square = 0;
  for (const Gradient& gradient : gradients) {
    facts.weighted_square += square_of(gradient) / static_cast<double>(sizes.size());
  }
  return facts;
}

constexpr double variance = 4, true_square = 1;  // v and s at the reference batch
constexpr int updates = 800;

double ideal_gain(double scale) {
  return (variance + true_square) / (variance / scale + true_square);
}

using MakeFacts = GradientFacts (*)(const Sizes&, const std::vector<Gradient>&);

// Mean gain over the second half of a run whose updates all have these minibatches and this scale,
// over the ideal gain.
double gain_over_ideal(const Sizes& sizes, double scale, MakeFacts make_facts) {
  const double reference_batch = std::accumulate(sizes.begin(), sizes.end(), 0.0) / scale;
  GradientSource source(256, true_square, variance * reference_batch, 20);
  GradientNoise noise(reference_batch);
  double sum = 0;
  for (int update = 0; update < updates; ++update) {
    noise.observe(make_facts(sizes, source.minibatches(sizes)));
    if (update >= updates / 2) sum += noise.gain(scale);
  }
  return sum / (updates / 2) / ideal_gain(scale);
}

const std::vector<double> scales = {2, 4, 8, 16, 32};
const std::vector<Sizes> uneven_sizes = {
    {64, 32, 16, 8}, {96, 4, 4, 8, 16}, {32, 32, 32, 4}, {32, 1}};  // the last two end short

TEST(GradientNoiseStatistics, GainIsRightForEqualMinibatches) {
  for (const double scale : {2.0, 3.0, 4.0, 8.0, 16.0, 32.0}) {
    const Sizes one_reference_batch_each(static_cast<std::size_t>(scale), 32);
    EXPECT_NEAR(gain_over_ideal(one_reference_batch_each, scale, facts_of), 1, 0.02) << scale;
    EXPECT_NEAR(gain_over_ideal({32, 32, 32, 32}, scale, facts_of), 1, 0.02) << scale;
  }
}

TEST(GradientNoiseStatistics, GainIsRightForUnevenAndShortMinibatches) {
  for (const Sizes& sizes : uneven_sizes) {
    for (const double scale : scales) {
      EXPECT_NEAR(gain_over_ideal(sizes, scale, facts_of), 1, 0.02)
          << sizes.size() << " minibatches, scale " << scale;
    }
  }
}

TEST(GradientNoiseStatistics, UnweightedMeansFailTheSameBound) {
  EXPECT_NEAR(gain_over_ideal({32, 32, 32, 32}, 4, naive_facts), 1, 0.02);
  for (const Sizes& sizes : uneven_sizes) {
    for (const double scale : scales) {
      EXPECT_GT(gain_over_ideal(sizes, scale, naive_facts), 1.02)
          << sizes.size() << " minibatches, scale " << scale;
    }
  }
}

// Batches that change from update to update, with a lone minibatch now and then: v and s belong to
// no batch size.
TEST(GradientNoiseStatistics, AveragesAreRightWhileTheBatchChanges) {
  const std::vector<Sizes> cycle = {{32, 32}, Sizes(32, 32), {64, 32, 16, 8}, {32}, {32, 32, 4}};
  GradientSource source(256, true_square, variance * 32, 21);
  GradientNoise noise(32);
  for (int update = 0; update < updates; ++update) {
    const Sizes& sizes = cycle[static_cast<std::size_t>(update) % cycle.size()];
    noise.observe(facts_of(sizes, source.minibatches(sizes)));
  }
  EXPECT_NEAR(noise.variance(), variance, 0.02 * variance);
  EXPECT_NEAR(noise.square(), true_square, 0.02 * true_square);
  EXPECT_NEAR(noise.gain(8), ideal_gain(8), 0.02 * ideal_gain(8));
}

// Recovering a minibatch's gradient as a difference of accumulated sums, without clearing them at
// the update, measures each gradient against the one before it: twice the variance.
TEST(GradientNoiseStatistics, DifferencesAcrossUpdatesFailTheSameBound) {
  const Sizes sizes = {32, 32, 32, 32};
  GradientSource source(256, true_square, variance * 32, 22);
  GradientNoise noise(32);
  std::vector<Gradient> previous = source.minibatches(sizes);
  for (int update = 0; update < updates; ++update) {
    const std::vector<Gradient> gradients = source.minibatches(sizes);
    std::vector<Gradient> differences = gradients;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (std::size_t k = 0; k < 256; ++k) differences[i][k] -= previous[i][k];
    }
    GradientFacts facts = facts_of(sizes, gradients);
    facts.weighted_square = facts_of(sizes, differences).weighted_square;
    noise.observe(facts);
    previous = gradients;
  }
  EXPECT_GT(noise.gain(4) / ideal_gain(4), 1.4);
}

// Signal far below the noise of one update: single estimates of s are often negative. Averaging
// them as they are finds s; averaging them clipped finds several times as much.
TEST(GradientNoiseStatistics, WeakSignalsAreFoundBecauseRawValuesAreAveraged) {
  constexpr double weak_square = 0.01, scale = 8;
  const double ideal = (variance + weak_square) / (variance / scale + weak_square);
  const Sizes sizes(8, 32);
  GradientSource source(12, weak_square, variance * 32, 23);
  GradientNoise noise(32);
  double gains = 0, clipped_squares = 0;
  for (int update = 0; update < 8000; ++update) {
    const GradientFacts facts = facts_of(sizes, source.minibatches(sizes));
    noise.observe(facts);
    gains += noise.gain(scale) / 8000;
    clipped_squares += std::max(0.0, (8 * facts.mean_square - facts.weighted_square) / 7) / 8000;
  }
  EXPECT_NEAR(gains, ideal, 0.02 * ideal);
  const double clipped_gain = (variance + clipped_squares) / (variance / scale + clipped_squares);
  EXPECT_LT(clipped_gain, 0.95 * ideal);
}

}  // namespace
}  // namespace rubato::optim
