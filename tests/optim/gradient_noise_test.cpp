// The noise scale against the reference vectors, and at its edges. Its statistics:
// gradient_noise_statistics_test.cpp.
#include "optim/gradient_noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "tests/optim/expect_relative.hpp"

namespace rubato::optim {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The gradient of the vectors: g(t,i)[k] = 0.3 + 0.1 sin(1.3 i + 0.7 k + 0.2 t) + 0.02 k, k = 0..5.
GradientFacts reference_facts(double t, const std::vector<double>& sizes) {
  GradientFacts facts;
  facts.minibatches = sizes.size();
  facts.batch_size = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  std::vector<double> mean(6);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double weight = sizes[i] / facts.batch_size;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const auto index = static_cast<double>(i), element = static_cast<double>(k);
      const double wave = std::sin(1.3 * index + 0.7 * element + 0.2 * t);
      const double gradient = 0.3 + 0.1 * wave + 0.02 * element;
      facts.weighted_square += weight * gradient * gradient;
      mean[k] += weight * gradient;
    }
  }
  facts.mean_square = std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0);
  return facts;
}

// Of the sum of the single minibatches at two times.
GradientFacts reference_facts_of_sum(double t, double other) {
  GradientFacts facts;
  for (double k = 0; k < 6; ++k) {
    const double sum =
        0.6 + 0.1 * (std::sin(0.7 * k + 0.2 * t) + std::sin(0.7 * k + 0.2 * other)) + 0.04 * k;
    facts.mean_square += sum * sum;
  }
  return facts;
}

TEST(GradientNoise, FollowsTheReferenceVectors) {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/estimator_golden.json");
  const json golden = json::parse(file);
  GradientNoise noise(golden["B0"].get<double>());
  double progress = 0;
  for (const json& step : golden["steps"]) {
    SCOPED_TRACE("step " + step["t"].dump());
    const GradientFacts facts = reference_facts(
        step["t"].get<double>(), step["micro_batch_sizes"].get<std::vector<double>>());
    expect_relative(facts.weighted_square, step["Q_weighted"]);
    expect_relative(facts.mean_square, step["norm2_mean"]);
    noise.observe(facts);
    const json& expected = step["recommended"];
    const double gain = noise.gain(facts.batch_size / golden["B0"].get<double>());
    progress += gain;
    expect_relative(gain, expected["gain"]);
    expect_relative(progress, expected["progress"]);
    expect_relative(noise.noise_scale(), expected["gns_samples"]);
    if (!expected.contains("var_avg")) continue;  // a single minibatch: the averages are held
    expect_relative(noise.variance(), expected["var_avg"]);
    expect_relative(noise.square(), expected["sqr_avg"]);
  }
  EXPECT_EQ(golden["steps"].size(), 8u);
}

// The vectors' columns of another implementation, which measures some updates only, and takes the
// difference of the two single minibatches, t = 4 and t = 6.
TEST(GradientNoise, FollowsTheReferenceVectorsForDifferences) {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/estimator_golden.json");
  const json golden = json::parse(file);
  const double reference_batch = golden["B0"].get<double>();
  GradientNoise noise(reference_batch, SingleMinibatch::difference);
  int differences = 0;
  for (const json& step : golden["steps"]) {
    if (!step.contains("adaptdl")) continue;
    SCOPED_TRACE("step " + step["t"].dump());
    const json& expected = step["adaptdl"];
    const double t = step["t"].get<double>();
    GradientFacts facts = reference_facts(t, step["micro_batch_sizes"].get<std::vector<double>>());
    if (facts.minibatches > 1) {
      noise.observe(facts);
      if (t > 6) continue;  // restarts all averages, see below
    } else if (expected["differenced"] == true) {
      const GradientFacts kept = reference_facts(4, {32});
      const GradientFacts sum = reference_facts_of_sum(4, 6);
      facts.kept_square = kept.mean_square;
      facts.kept_product = (sum.mean_square - kept.mean_square - facts.mean_square) / 2;
      noise.observe_difference(facts_of_both(facts, 32));
      ++differences;
    } else {
      continue;
    }
    expect_relative(noise.square(), expected["sqr_avg"]);
    expect_relative(noise.variance(), expected["var_avg"]);
    expect_relative(noise.gain(step["S"].get<double>()), expected["gain"]);
  }
  EXPECT_EQ(differences, 1);
}

// |p|^2 = 5, |g|^2 = 3, <p, g> = 2, of 8 and 24 samples.
TEST(GradientNoise, TakesTwoSingleMinibatchesForOneUpdate) {
  const GradientFacts both = facts_of_both({24, 1, 3, 3, 5, 2}, 8);
  EXPECT_EQ(both.batch_size, 32);
  EXPECT_EQ(both.minibatches, 2U);
  EXPECT_NEAR(both.weighted_square, 0.25 * 5 + 0.75 * 3, 1e-15);
  EXPECT_NEAR(both.mean_square, 5.0 / 16 + 2 * 3.0 / 16 * 2 + 9.0 / 16 * 3, 1e-15);
}

// Differences serve until there is something better; what was measured within updates stays.
TEST(GradientNoise, DropsDifferencesWhenAnUpdateHasMinibatchesAgain) {
  const GradientFacts within = {64, 2, 3, 2}, between = {64, 2, 9, 2}, later = {96, 3, 2.5, 2};
  GradientNoise noise(32, SingleMinibatch::difference), without(32);
  noise.observe(within);
  noise.observe_difference(between);
  EXPECT_GT(noise.variance(), 7);
  noise.observe(later);
  without.observe(within);
  EXPECT_GT(std::abs(noise.variance() - without.variance()), 1e-3);
  without.observe(later);
  EXPECT_NEAR(noise.variance(), without.variance(), 2e-3);  // it has faded a little more
}

TEST(GradientNoise, DifferencesFadeAsUpdatesDo) {
  GradientNoise between(32, SingleMinibatch::difference), within(32);
  for (const GradientFacts& facts : {GradientFacts{640, 2, 3, 2}, GradientFacts{64, 2, 9, 2}}) {
    between.observe_difference(facts);
    within.observe(facts);
  }
  EXPECT_EQ(between.variance(), within.variance());
  EXPECT_EQ(between.square(), within.square());
}

TEST(GradientNoise, GoesOnFromTheScalarsOfDifferences) {
  GradientNoise unbroken(32, SingleMinibatch::difference), resumed = unbroken;
  unbroken.observe({64, 2, 3, 2});
  unbroken.observe_difference({64, 2, 9, 2});
  resumed.restore_scalars(unbroken.scalars());
  EXPECT_EQ(unbroken.scalars().size(), 12U);
  EXPECT_EQ(resumed.variance(), unbroken.variance());
  EXPECT_EQ(resumed.noise_scale_interval().low, unbroken.noise_scale_interval().low);
  GradientNoise holding(32);
  EXPECT_THROW(holding.restore_scalars(unbroken.scalars()), std::invalid_argument);
}

TEST(GradientNoise, EfficiencyIsTheGainOfASample) {
  GradientNoise noise(32);
  EXPECT_EQ(noise.efficiency(4), 0.25);  // of noise nothing is known: four times for nothing
  noise.observe({64, 2, 3, 2});          // v = 2, s = 1: a noise scale of 64
  for (const double scale : {0.5, 1.0, 4.0}) {
    EXPECT_NEAR(noise.efficiency(scale), (64 + 32) / (64 + 32 * scale), 1e-13);
  }
}

TEST(GradientNoise, IntervalOfTheNoiseScaleIsInSamples) {
  GradientNoise noise(32);
  EXPECT_EQ(noise.noise_scale_interval().low, 0);
  EXPECT_TRUE(std::isinf(noise.noise_scale_interval().high));
  for (int update = 0; update < 50; ++update) noise.observe({64, 2, 3 + update % 2 * 0.1, 2});
  const NoiseInterval interval = noise.noise_scale_interval();
  EXPECT_LT(interval.low, noise.noise_scale());
  EXPECT_GT(interval.high, noise.noise_scale());
  EXPECT_NEAR(interval.low, noise.noise_scale(), 4);
  EXPECT_NEAR(interval.high, noise.noise_scale(), 4);
}

TEST(GradientNoise, TreatmentsOfSingleMinibatchesAreKnownByName) {
  EXPECT_EQ(single_minibatch("hold"), SingleMinibatch::hold);
  EXPECT_EQ(single_minibatch("difference"), SingleMinibatch::difference);
  EXPECT_THAT([] { single_minibatch("drop"); },
              ThrowsMessage<std::invalid_argument>(
                  "unknown treatment of single minibatches 'drop'; valid names: hold, difference"));
}

TEST(GradientNoise, KnowsNothingBeforeTheFirstObservation) {
  const GradientNoise noise(32);
  EXPECT_EQ(noise.variance(), 0);
  EXPECT_EQ(noise.square(), 1);
  EXPECT_EQ(noise.noise_scale(), 0);
  for (const double scale : {0.25, 1.0, 3.0, 32.0}) EXPECT_EQ(noise.gain(scale), 1);
}

// T = (3 - 2) 64 / 1 = 64 and s = (2 * 2 - 3) / 1 = 1, so v = 64 / 32 = 2.
constexpr GradientFacts simple_facts = {64, 2, 3, 2};

TEST(GradientNoise, FirstObservationIsTakenWhole) {
  GradientNoise noise(32);
  noise.observe(simple_facts);
  EXPECT_NEAR(noise.variance(), 2, 1e-13);
  EXPECT_NEAR(noise.square(), 1, 1e-13);
  EXPECT_NEAR(noise.noise_scale(), 64, 1e-11);
  EXPECT_NEAR(noise.gain(4), (2 + 1) / (2.0 / 4 + 1), 1e-13);
}

TEST(GradientNoise, HoldsItsAveragesWhenThereIsNothingToCompare) {
  GradientNoise noise(32, SingleMinibatch::difference);
  noise.observe(simple_facts);
  const double variance = noise.variance(), square = noise.square();
  noise.observe({32, 1, 9, 9});
  noise.observe({32, 0, 0, 0});
  const double infinity = std::numeric_limits<double>::infinity();
  noise.observe({64, 2, infinity, 2});
  noise.observe({64, 2, 3, infinity});
  noise.observe_difference({64, 2, infinity, 2});
  EXPECT_EQ(noise.variance(), variance);
  EXPECT_EQ(noise.square(), square);
}

// Old values fade with the reference batches that went by, not with the updates: one update of two
// reference batches weighs as much as two of one (up to 1 - 0.999^2 against 2 (1 - 0.999)).
TEST(GradientNoise, ForgetsByReferenceBatches) {
  GradientNoise noise(32);
  noise.observe(simple_facts);    // v = 2
  noise.observe({320, 2, 3, 2});  // T = 320, v = 10, S = 10
  const double old_weight = std::pow(0.999, 10) * (1 - std::pow(0.999, 2));
  const double new_weight = 1 - std::pow(0.999, 10);
  EXPECT_NEAR(noise.variance(), (2 * old_weight + 10 * new_weight) / (old_weight + new_weight),
              1e-12);
}

TEST(GradientNoise, GainIsExactlyOneAtScaleOne) {
  GradientNoise noise(7);
  for (int i = 1; i < 200; ++i) {
    noise.observe({21.0, 3, 1.0 + 1.0 / i, 1 - 0.1 / i});
    ASSERT_EQ(noise.gain(1), 1.0) << i;
  }
}

TEST(GradientNoise, GainLiesBetweenOneAndTheScaleAndBelowOneForSmallerBatches) {
  GradientNoise noise(32);
  noise.observe(simple_facts);
  EXPECT_GT(noise.gain(8), 1);
  EXPECT_LT(noise.gain(8), 8);
  EXPECT_NEAR(noise.gain(0.5), 3.0 / 5.0, 1e-13);
}

TEST(GradientNoise, ClipsWhenReadAndNotBefore) {
  GradientNoise noise(32);
  noise.observe({64, 2, 1, 2});  // less than nothing: T = -64
  EXPECT_EQ(noise.variance(), 1e-6);
  noise.observe({64, 2, 9, 2});  // T = 448, s = -5: the averages remember both
  EXPECT_NEAR(noise.variance(), (-2 * 0.998001 + 14) / 1.998001, 1e-11);
  noise.observe({64, 2, 9, 2});
  EXPECT_EQ(noise.square(), 0);
  EXPECT_EQ(noise.gain(4), 4);
  EXPECT_TRUE(std::isinf(noise.noise_scale()));
}

TEST(GradientNoise, GoesOnFromItsScalars) {
  GradientNoise unbroken(32), resumed(32);
  unbroken.observe(simple_facts);
  resumed.restore_scalars(unbroken.scalars());
  for (GradientNoise* noise : {&unbroken, &resumed}) noise->observe({96, 3, 2.5, 2});
  EXPECT_EQ(resumed.variance(), unbroken.variance());
  EXPECT_EQ(resumed.square(), unbroken.square());
}

TEST(GradientNoise, RefusesWhatMakesNoSense) {
  EXPECT_THAT([] { GradientNoise noise(0); },
              ThrowsMessage<std::invalid_argument>(
                  "reference batch is 0; expected a finite number above 0"));
  GradientNoise noise(32);
  EXPECT_THAT(
      [&] {
        noise.restore_scalars({{"variance_sum", 1}});
      },
      ThrowsMessage<std::invalid_argument>(
          HasSubstr("state of gradient noise: scalar 'square_sum' is missing")));
}

}  // namespace
}  // namespace rubato::optim
