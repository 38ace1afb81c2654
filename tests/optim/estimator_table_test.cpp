// The table of estimators of the gradient noise: what the library's own sums and estimates give for
// gradients of known noise, beside five other formulas, for minibatches of many sizes over many
// ranks. Printed, and held to a bias below 1 %; two of the others are biased and miss it.
//
// T = 96, s = 1, twelve dimensions of unlike variance. Noise is normal, and comes with its mirror
// image, which takes the parts that cancel out of the error.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <numbers>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/gradient_sync.hpp"
#include "tests/optim/noise_estimate.hpp"

namespace rubato::optim {
namespace {

using collectives::Topology;

constexpr std::size_t dimensions = 12;
constexpr std::size_t elements = 16;  // with padding
constexpr double trace = 96;
constexpr double square = 1;

using Gradient = std::array<double, dimensions>;

struct Pattern {
  std::string title;
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> ranks;  // that each minibatch is run on
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {
      {"4 x 32", {32, 32, 32, 32}, {0, 1, 2, 3}},
      {"7 x 32 on 3 ranks (3, 2, 2)", {32, 32, 32, 32, 32, 32, 32}, {0, 0, 0, 1, 1, 2, 2}},
      {"3 x 32 on 4 ranks, one idle", {32, 32, 32}, {0, 1, 2}},
      {"64, 32, 16, 8", {64, 32, 16, 8}, {0, 1, 2, 3}},
      {"96, 4, 4, 8, 16 on 3 ranks", {96, 4, 4, 8, 16}, {0, 0, 1, 1, 2}},
      {"32, 32, 32, 5: ends short", {32, 32, 32, 5}, {0, 0, 1, 1}},
      {"32, 1: ends short", {32, 1}, {0, 1}},
  };
  return all;
}

Gradient deviations() {
  Gradient result{};
  for (std::size_t k = 0; k < dimensions; ++k) {
    const double part = static_cast<double>(k + 1) / (dimensions * (dimensions + 1) / 2.0);
    result[k] = std::sqrt(trace * part);
  }
  return result;
}

// Mean gradients of minibatches, the same on every rank; the odd trials mirror the even ones.
class Source {
 public:
  std::vector<Gradient> draw(const std::vector<std::size_t>& sizes) {
    const bool mirrors = trial_++ % 2 == 1;
    std::vector<Gradient> result(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (!mirrors) noise_.resize(sizes.size());
      for (std::size_t k = 0; k < dimensions; ++k) {
        if (!mirrors) noise_[i][k] = normal();
        const double noise = mirrors ? -noise_[i][k] : noise_[i][k];
        result[i][k] = std::sqrt(square / dimensions) +
                       deviations_[k] * noise / std::sqrt(static_cast<double>(sizes[i]));
      }
    }
    return result;
  }

 private:
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

  std::mt19937_64 random_{2026};
  Gradient deviations_ = deviations();
  std::vector<Gradient> noise_;
  int trial_ = 0;
};

double inner(const Gradient& a, const Gradient& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double square_of(const Gradient& g) { return inner(g, g); }

Gradient mean_of(const std::vector<Gradient>& gradients, const std::vector<double>& weights) {
  Gradient mean{};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    for (std::size_t k = 0; k < dimensions; ++k) mean[k] += weights[i] * gradients[i][k];
  }
  return mean;
}

// An update through the library: sums of the minibatches, each on its rank, in float.
GradientFacts facts_from_sync(GradientSync& sync, const Topology& topology, const Pattern& pattern,
                              const std::vector<Gradient>& gradients) {
  const std::size_t samples =
      std::accumulate(pattern.sizes.begin(), pattern.sizes.end(), std::size_t{0});
  UpdateSums sums;
  do {
    sync.begin(pattern.sizes.size(), samples);
    for (std::size_t slot = 0; slot < pattern.sizes.size(); ++slot) {
      if (pattern.ranks[slot] % topology.all().size() != topology.all().rank()) continue;
      std::array<float, elements> sum{};
      for (std::size_t k = 0; k < dimensions; ++k) {
        sum[k] = static_cast<float>(gradients[slot][k] * static_cast<double>(pattern.sizes[slot]));
      }
      sync.accumulate({slot, pattern.sizes[slot], 1, 0}, sum);
    }
    sums = sync.sum();
    sync.barrier();
  } while (!sums.stands);
  return sums.gradient;
}

enum Other { uniform, least_squares, naive, rank_level, one_small, others };  // formulas for T

double fitted_trace(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return xy / xx;
}

double weighted_trace(const std::vector<Gradient>& gradients, const std::vector<double>& sizes) {
  const double batch = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  std::vector<double> weights;
  double q = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    weights.push_back(sizes[i] / batch);
    q += weights[i] * square_of(gradients[i]);
  }
  const auto n = static_cast<double>(sizes.size());
  return (q - square_of(mean_of(gradients, weights))) * batch / (n - 1);
}

std::array<double, others> other_estimates(const Pattern& pattern,
                                           const std::vector<Gradient>& gradients) {
  const std::vector<double> sizes(pattern.sizes.begin(), pattern.sizes.end());
  const auto n = static_cast<double>(sizes.size());
  const double batch = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  std::vector<double> weights, x, y, rank_sizes;
  std::vector<Gradient> rank_means;
  double mean_square = 0, mean_inverse = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    weights.push_back(sizes[i] / batch);
    x.push_back(1 / sizes[i]);
    y.push_back(square_of(gradients[i]));
    mean_square += y[i] / n;
    mean_inverse += x[i] / n;
    const std::size_t rank = pattern.ranks[i];
    rank_sizes.resize(std::max(rank_sizes.size(), rank + 1));
    rank_means.resize(rank_sizes.size());
    for (std::size_t k = 0; k < dimensions; ++k) {
      rank_means[rank][k] = (rank_means[rank][k] * rank_sizes[rank] + gradients[i][k] * sizes[i]) /
                            (rank_sizes[rank] + sizes[i]);
    }
    rank_sizes[rank] += sizes[i];
  }
  const double norm = square_of(mean_of(gradients, weights));
  const std::vector<double> equal(sizes.size(), 1 / n);
  const double equal_norm = square_of(mean_of(gradients, equal));
  std::array<double, others> result{};
  result[uniform] = (mean_square - norm) / (mean_inverse - 1 / batch);
  result[naive] = (mean_square - equal_norm) * batch / (n - 1);
  result[rank_level] = weighted_trace(rank_means, rank_sizes);
  result[one_small] = (y[0] - norm) / (x[0] - 1 / batch);
  x.push_back(1 / batch);
  y.push_back(norm);
  result[least_squares] = fitted_trace(x, y);
  return result;
}

GradientSync sync_of_one_tensor(const Topology& topology) {
  return {topology,       {{"all", 0, dimensions, true, 0}},         elements, elements,
          SumKind::exact, collectives::AllreduceAlgorithm::automatic};
}

std::string cell(const Statistics& statistics) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << statistics.mean() << " (" << statistics.deviation()
       << ')';
  return text.str();
}

TEST(EstimatorTable, IsUnbiasedForEveryPatternOfSizes) {
  const auto world = collectives::Communicator::world();
  const Topology alone(world.split(static_cast<int>(world.rank()), 0));
  GradientSync sync = sync_of_one_tensor(alone);
  std::cout << "mean estimate of T = 96 (standard deviation); the library's of s = 1\n"
               "| sizes | library: T | s | uniform | least squares | naive | per rank |"
               " one small |\n";
  const std::vector<Pattern> all = patterns();
  for (std::size_t share = world.rank(); share < all.size(); share += world.size()) {
    const Pattern& pattern = all[share];
    Source source;
    Statistics traces, squares;
    std::array<Statistics, others> other;
    for (int trial = 0; trial < 60000; ++trial) {
      const std::vector<Gradient> gradients = source.draw(pattern.sizes);
      const Estimate estimate = library_estimate(facts_from_sync(sync, alone, pattern, gradients));
      traces.add(estimate.trace);
      squares.add(estimate.square);
      const auto rest = other_estimates(pattern, gradients);
      for (std::size_t i = 0; i < others; ++i) other[i].add(rest[i]);
    }
    std::cout << "| " << pattern.title << " | " << cell(traces) << " | " << std::setprecision(3)
              << squares.mean();
    for (const Statistics& statistics : other) std::cout << " | " << cell(statistics);
    std::cout << " |\n";
    EXPECT_NEAR(traces.mean(), trace, 0.01 * trace) << pattern.title;
    EXPECT_NEAR(squares.mean(), square, 0.01 * square) << pattern.title;
    EXPECT_LT(traces.deviation(), 1.02 * other[uniform].deviation()) << pattern.title;
    EXPECT_LT(traces.deviation(), 1.02 * other[least_squares].deviation()) << pattern.title;
    const bool is_even = pattern.sizes.front() == pattern.sizes.back();
    EXPECT_EQ(std::abs(other[naive].mean() - trace) < 0.01 * trace, is_even) << pattern.title;
  }
}

// Two updates of one minibatch each, of any sizes.
TEST(EstimatorTable, IsUnbiasedForDifferences) {
  const auto world = collectives::Communicator::world();
  const std::vector<std::vector<std::size_t>> all{{32, 32}, {32, 8}, {5, 64}};
  for (std::size_t share = world.rank(); share < all.size(); share += world.size()) {
    const std::vector<std::size_t>& sizes = all[share];
    Source source;
    Statistics traces;
    for (int trial = 0; trial < 60000; ++trial) {
      const std::vector<Gradient> gradients = source.draw(sizes);
      GradientFacts later{static_cast<double>(sizes[1]), 1};
      later.weighted_square = later.mean_square = square_of(gradients[1]);
      later.kept_square = square_of(gradients[0]);
      later.kept_product = inner(gradients[0], gradients[1]);
      traces.add(library_estimate(facts_of_both(later, static_cast<double>(sizes[0]))).trace);
    }
    std::cout << "difference of " << sizes[0] << " and " << sizes[1] << ": " << cell(traces)
              << '\n';
    EXPECT_NEAR(traces.mean(), trace, 0.01 * trace);
  }
}

TEST(EstimatorTable, HasTheSameBitsOnTheseRanks) {
  const auto world = collectives::Communicator::world();
  const Topology together(world), alone(world.split(static_cast<int>(world.rank()), 0));
  GradientSync sync = sync_of_one_tensor(together), reference_sync = sync_of_one_tensor(alone);
  for (const Pattern& pattern : patterns()) {
    Source source;
    for (int trial = 0; trial < 100; ++trial) {
      const std::vector<Gradient> gradients = source.draw(pattern.sizes);
      const auto found = facts_from_sync(sync, together, pattern, gradients);
      const auto expected = facts_from_sync(reference_sync, alone, pattern, gradients);
      ASSERT_EQ(found.weighted_square, expected.weighted_square) << pattern.title;
      ASSERT_EQ(found.mean_square, expected.mean_square) << pattern.title;
    }
  }
}

}  // namespace
}  // namespace rubato::optim
