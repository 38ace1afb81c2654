// The noise scale against the reference vectors, and at its edges. Its statistics:
// gradient_noise_statistics_test.cpp.
#include "optim/gradient_noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

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

void expect_relative(double actual, const json& expected) {
  EXPECT_NEAR(actual, expected.get<double>(), 1e-12 * std::abs(expected.get<double>()));
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
  GradientNoise noise(32);
  noise.observe(simple_facts);
  const double variance = noise.variance(), square = noise.square();
  noise.observe({32, 1, 9, 9});
  noise.observe({32, 0, 0, 0});
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
