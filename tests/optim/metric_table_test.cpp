// What it costs to measure, in the optimizer's metric, only pieces of large tensors
// (measured_pieces.hpp): the library's estimates beside those of all elements, for the same
// gradients. Printed, and held to a bias below 1 %.
//
// Noise that is independent in all elements is the worst case: it averages out over the elements,
// so a 64th of them has 8 times the deviation. Noise of a few directions, which is what
// minibatches of real networks have, is seen by every part of them alike.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/gradient_sync.hpp"
#include "tests/optim/noise_estimate.hpp"
#include "tests/optim/plain_preconditioner.hpp"

namespace rubato::optim {
namespace {

using collectives::Topology;

constexpr std::size_t metric_elements = 18 * 4096;
constexpr std::size_t directions = 8;
const std::vector<std::size_t> sizes = {64, 32, 16, 8};
constexpr double signal = 1 / 96.0;  // squared, of a sample's variance

struct Noise {
  std::string title;
  bool is_independent;
  int trials;
  double most_deviation;  // times that of all elements
};

std::vector<TensorRange> small_and_large() {
  return {{"small", 0, 4096, true, 0}, {"large", 4096, metric_elements - 4096, true, 0}};
}

// Elements of unlike size: the large tensor's are a thousand times as large as the small one's.
double size_of(std::size_t k) {
  return (k < 4096 ? 1e-3 : 1.0) * (1.2 + std::sin(static_cast<double>(k) * 0.013));
}

// The metric knows these sizes as Adam does, from squares of few gradients: not exactly.
std::vector<float> inverse_scales() {
  std::vector<float> scales(metric_elements);
  for (std::size_t k = 0; k < metric_elements; ++k) {
    const double known = size_of(k) * (1 + 0.3 * std::cos(static_cast<double>(k) * 0.57));
    scales[k] = static_cast<float>(1 / known);
  }
  return scales;
}

class NoisyMinibatches {
 public:
  explicit NoisyMinibatches(bool is_independent) : is_independent_(is_independent) {}

  // The sum over the samples of a minibatch.
  std::vector<float> draw(std::size_t samples) {
    const auto count = static_cast<double>(samples);
    std::array<double, directions> along{};
    for (double& value : along) value = normal();
    std::vector<float> sum(metric_elements);
    for (std::size_t k = 0; k < metric_elements; ++k) {
      const double noise = is_independent_ ? normal() : in_directions(k, along);
      sum[k] = static_cast<float>(size_of_[k] * (count * std::sqrt(signal) * signs_[k][directions] +
                                                 std::sqrt(count) * noise));
    }
    return sum;
  }

 private:
  static std::vector<std::array<double, directions + 1>> make_signs() {
    std::vector<std::array<double, directions + 1>> signs(metric_elements);
    std::mt19937_64 random(7);
    for (auto& of_element : signs) {
      for (double& sign : of_element) sign = random() >> 63 == 0 ? 1 : -1;
    }
    return signs;
  }

  double in_directions(std::size_t k, const std::array<double, directions>& along) const {
    double sum = 0;
    for (std::size_t r = 0; r < directions; ++r) sum += signs_[k][r] * along[r];
    return sum / std::sqrt(static_cast<double>(directions));
  }

  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

  static std::vector<double> all_sizes() {
    std::vector<double> all(metric_elements);
    for (std::size_t k = 0; k < metric_elements; ++k) all[k] = size_of(k);
    return all;
  }

  bool is_independent_;
  std::mt19937_64 random_{2027};
  std::vector<double> size_of_ = all_sizes();
  std::vector<std::array<double, directions + 1>> signs_ = make_signs();  // the last: the signal's
};

using Minibatches = std::vector<std::vector<float>>;  // their sums

std::size_t samples_of_all(const Minibatches& sums) {
  return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sums.size()),
                         std::size_t{0});
}

GradientFacts facts_of_all(const Minibatches& sums, const std::vector<float>& scales,
                           const std::vector<float>& kept = {}) {
  const auto batch_size = static_cast<double>(samples_of_all(sums));
  GradientFacts facts{.batch_size = batch_size, .minibatches = sums.size()};
  for (std::size_t k = 0; k < metric_elements; ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double scaled = double{sums[i][k]} * scales[k];
      facts.weighted_square += scaled * scaled / static_cast<double>(sizes[i]) / batch_size;
      mean += scaled / batch_size;
    }
    facts.mean_square += mean * mean;
    if (kept.empty()) continue;
    const double other = double{kept[k]} * scales[k];
    facts.kept_square += other * other;
    facts.kept_product += other * mean;
  }
  return facts;
}

class Measuring {
 public:
  explicit Measuring(const Topology& topology, std::span<const float> kept = {})
      : topology_(topology),
        sync_(topology, small_and_large(), metric_elements, metric_elements, SumKind::exact,
              collectives::AllreduceAlgorithm::automatic) {
    sync_.measure({.preconditioner = &preconditioner_,
                   .preconditioner_state = scales_,
                   .kept_gradient = kept});
  }

  const std::vector<float>& scales() const { return scales_; }

  // When so many updates have been made, each minibatch on a rank.
  GradientFacts facts(const Minibatches& sums, std::uint64_t updates) {
    preconditioner_.updates_done = updates;
    UpdateSums found;
    do {
      sync_.begin(sums.size(), samples_of_all(sums));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (i % topology_.all().size() != topology_.all().rank()) continue;
        sync_.accumulate({i, sizes[i], 1, 0}, sums[i]);
      }
      found = sync_.sum();
      sync_.barrier();
    } while (!found.stands);
    return found.preconditioned;
  }

 private:
  const Topology& topology_;
  const std::vector<float> scales_ = inverse_scales();
  PlainPreconditioner preconditioner_;
  GradientSync sync_;
};

Minibatches drawn(NoisyMinibatches& source, std::size_t count) {
  Minibatches sums;
  for (std::size_t i = 0; i < count; ++i) sums.push_back(source.draw(sizes[i]));
  return sums;
}

TEST(MetricTable, IsUnbiasedThoughOnlyPiecesAreMeasured) {
  const auto world = collectives::Communicator::world();
  const Topology alone(world.split(static_cast<int>(world.rank()), 0));
  Measuring measuring(alone);
  double trace = 0;
  for (std::size_t k = 0; k < metric_elements; ++k) {
    trace += std::pow(size_of(k) * measuring.scales()[k], 2);
  }
  const double square = signal * trace;

  const std::vector<Noise> all = {{"in eight directions", false, 400, 1.1},
                                  {"independent", true, 160, 8.9}};
  for (std::size_t share = world.rank(); share < all.size(); share += world.size()) {
    const Noise& noise = all[share];
    NoisyMinibatches source(noise.is_independent);
    std::array<Statistics, 4> found;
    for (int trial = 0; trial < noise.trials; ++trial) {
      const Minibatches sums = drawn(source, sizes.size());
      const Estimate whole = library_estimate(facts_of_all(sums, measuring.scales()));
      const Estimate part =
          library_estimate(measuring.facts(sums, static_cast<std::uint64_t>(trial)));
      found[0].add(whole.trace / trace);
      found[1].add(part.trace / trace);
      found[2].add(whole.square / square);
      found[3].add(part.square / square);
    }
    std::cout << "estimates over the truth: of all elements, of pieces (deviations)\n"
                 "| noise | T, all | T, pieces | s, all | s, pieces |\n| "
              << noise.title;
    for (const Statistics& one : found) {
      std::cout << " | " << one.mean() << " (" << one.deviation() << ')';
    }
    std::cout << " |\n";
    for (const std::size_t i : {1U, 3U}) {
      EXPECT_NEAR(found[i].mean(), found[i - 1].mean(), 0.01) << noise.title << ' ' << i;
      EXPECT_NEAR(found[i].mean(), 1, 4 * found[i].deviation() / std::sqrt(noise.trials))
          << noise.title << ' ' << i;
      EXPECT_LT(found[i].deviation(), noise.most_deviation * found[i - 1].deviation())
          << noise.title << ' ' << i;
    }
  }
}

TEST(MetricTable, GivesIn64UpdatesWhatAllElementsGive) {
  const auto world = collectives::Communicator::world();
  const Topology topology(world);
  NoisyMinibatches source(true);
  const std::vector<float> kept = source.draw(1);
  for (const std::size_t minibatches : {1UL, 4UL}) {
    Measuring measuring(topology, kept);
    const Minibatches sums = drawn(source, minibatches);
    GradientFacts mean;
    for (std::uint64_t update = 0; update < 64; ++update) {
      const GradientFacts found = measuring.facts(sums, 64 + update);
      mean.weighted_square += found.weighted_square / 64;
      mean.mean_square += found.mean_square / 64;
      mean.kept_square += found.kept_square / 64;
      mean.kept_product += found.kept_product / 64;
    }
    const GradientFacts expected =
        facts_of_all(sums, measuring.scales(), minibatches == 1 ? kept : std::vector<float>());
    EXPECT_NEAR(mean.weighted_square, expected.weighted_square, 1e-5 * expected.weighted_square);
    EXPECT_NEAR(mean.mean_square, expected.mean_square, 1e-5 * expected.mean_square);
    EXPECT_NEAR(mean.kept_square, expected.kept_square, 1e-5 * expected.kept_square);
    EXPECT_NEAR(mean.kept_product, expected.kept_product, 1e-5 * expected.kept_square);
  }
}

TEST(MetricTable, HasTheSameBitsOnTheseRanksAndNodes) {
  const auto world = collectives::Communicator::world();
  const Topology alone(world.split(static_cast<int>(world.rank()), 0));
  const Topology one_node(world), nodes_of_two(world, 2), nodes_of_one(world, 1);
  NoisyMinibatches source(true);
  const std::vector<float> kept = source.draw(1);
  for (const std::size_t minibatches : {1UL, 4UL}) {
    const Minibatches sums = drawn(source, minibatches);
    const GradientFacts expected = Measuring(alone, kept).facts(sums, 13);
    EXPECT_NE(Measuring(alone, kept).facts(sums, 14).weighted_square, expected.weighted_square);
    for (const Topology* topology : {&one_node, &nodes_of_two, &nodes_of_one}) {
      const GradientFacts found = Measuring(*topology, kept).facts(sums, 13);
      EXPECT_EQ(found.weighted_square, expected.weighted_square);
      EXPECT_EQ(found.mean_square, expected.mean_square);
      EXPECT_EQ(found.kept_square, expected.kept_square);
      EXPECT_EQ(found.kept_product, expected.kept_product);
    }
  }
}

}  // namespace
}  // namespace rubato::optim
