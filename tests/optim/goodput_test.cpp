// Efficiency, goodput and the best batch against the reference vectors, against an exhaustive
// search, and over random models.
#include "optim/goodput.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "optim/gradient_noise.hpp"
#include "performance_examples.hpp"

namespace rubato::optim {
namespace {

using nlohmann::json;
using testing::ThrowsMessage;

TEST(StatisticalEfficiency, FollowsTheReferenceVectors) {
  const json golden = goodput_vectors();
  for (const json& each : golden["efficiency"]) {
    const double expected = each["efficiency"];
    EXPECT_NEAR(statistical_efficiency({each["var"], each["sqr"]}, each["init"], each["batch"]),
                expected, 1e-12 * expected)
        << each.dump();
  }
  EXPECT_EQ(golden["efficiency"].size(), 7u);
}

// (noise scale + initial)/(noise scale + batch), and AdaScale's gain for each reference batch.
TEST(StatisticalEfficiency, IsThatOfTheNoiseScaleAndTheGain) {
  GradientNoise noise(32);
  noise.observe({64, 2, 3, 2});
  for (const double batch : {8.0, 32.0, 100.0, 5000.0}) {
    const double found = statistical_efficiency({noise.variance(), noise.square()}, 32, batch);
    EXPECT_NEAR(found, (noise.noise_scale() + 32) / (noise.noise_scale() + batch), 1e-12);
    EXPECT_NEAR(found, noise.gain(batch / 32) / (batch / 32), 1e-12);
  }
}

// Before the first observation, a larger batch is worth nothing.
TEST(StatisticalEfficiency, UnknownNoiseFavoursNoLargerBatch) {
  const GradientNoise noise(32);
  EXPECT_EQ(statistical_efficiency({noise.variance(), noise.square()}, 32, 128), 0.25);
}

GoodputModel reference_model(const json& golden, const json& search) {
  return {reference_parameters(golden),
          {search["grad"]["var"], search["grad"]["sqr"]},
          search["init_batch"],
          {search["nodes"], search["replicas"], {}, false}};
}

TEST(Goodput, FollowsTheReferenceVectors) {
  const json golden = goodput_vectors();
  for (const json& search : golden["optimize"]) {
    const GoodputModel model = reference_model(golden, search);
    for (const char* part : {"candidates_head", "candidates_tail"}) {
      for (const json& each : search[part]) {
        const double expected = each["goodput"];
        EXPECT_NEAR(
            goodput(model, {each["atomic"], each["accum"].get<std::uint64_t>() + 1, each["total"]}),
            expected, 1e-12 * expected)
            << search["name"] << each.dump();
      }
    }
  }
}

TEST(BestConfiguration, IsTheReferenceVectorsWhereThatIsWithinTheMaximum) {
  const json golden = goodput_vectors();
  int compared = 0;
  for (const json& search : golden["optimize"]) {
    SCOPED_TRACE(search["name"].get<std::string>());
    const Choice best =
        best_configuration(reference_model(golden, search), reference_limits(search));
    const double expected = search["goodput"];
    if (search["name"] == "r1_noaccum") {  // which does not adapt on one rank
      EXPECT_GT(best.configuration.batch, search["total_batch"].get<std::uint64_t>());
      EXPECT_GT(best.goodput, expected);
    } else if (search["total_batch"] > search["max_batch"]) {
      EXPECT_EQ(best.configuration, (Configuration{333, 1, 999}));
    } else {
      EXPECT_EQ(best.configuration,
                (Configuration{search["atomic_bsz"], search["accum_steps"].get<std::uint64_t>() + 1,
                               search["total_batch"]}));
      EXPECT_NEAR(best.goodput, expected, 1e-12 * expected);
      compared += 1;
    }
  }
  EXPECT_EQ(compared, 5);
}

GoodputModel random_model(PerformanceExamples& examples) {
  const std::size_t hosts = examples.whole(1, 3);
  GoodputModel model{examples.parameters(),
                     {examples.between(1e-6, 1), examples.between(1e-6, 1)},
                     static_cast<double>(examples.whole(1, 256)),
                     {hosts, hosts * examples.whole(1, 5), {}, examples.coin()}};
  for (std::size_t rank = 0; rank < model.allocation.ranks && hosts == 2; ++rank) {
    model.allocation.slowness.push_back(examples.between(0.5, 2));
  }
  return model;
}

// Fifty candidates are enough: what trying every batch and cut would find is hardly better.
TEST(BestConfiguration, IsNearlyAsGoodAsTryingEveryMinibatchAndNumberOfSubsteps) {
  PerformanceExamples examples(9);
  double worst = 1;
  for (int i = 0; i < 200; ++i) {
    GoodputModel model = random_model(examples);
    model.allocation.shared_by_speed = false;  // by speed, more substeps can be shared better
    const std::uint64_t initial = static_cast<std::uint64_t>(model.initial_batch);
    const std::uint64_t ranks = model.allocation.ranks, maximum = 4096;
    const BatchLimits limits{.initial_batch = initial,
                             .max_batch_size = maximum,
                             .local_bounds = LocalBounds{1, 64},
                             .may_be_single_at_initial = true};
    double highest = 0;
    for (std::uint64_t minibatch = 1; minibatch <= 64; ++minibatch) {
      for (std::uint64_t substeps = 1; ranks * substeps * minibatch <= maximum; ++substeps) {
        const std::uint64_t batch = ranks * substeps * minibatch;
        if (batch < initial || (batch > initial && ranks * substeps < 2)) continue;
        highest = std::max(highest, goodput(model, {minibatch, substeps, batch}));
      }
    }
    worst = std::min(worst, best_configuration(model, limits).goodput / highest);
  }
  EXPECT_GT(worst, 0.94);
}

TEST(BestConfiguration, IsWithinTheBoundsAndFiniteForWhateverModel) {
  PerformanceExamples examples(10);
  for (int i = 0; i < 5000; ++i) {
    const GoodputModel model = random_model(examples);
    BatchLimits limits{.initial_batch = static_cast<std::uint64_t>(model.initial_batch),
                       .max_batch_size = examples.whole(256, 9000)};
    if (examples.coin()) limits.fixed_minibatch = examples.whole(1, 64);
    if (!limits.fixed_minibatch && examples.coin()) limits.local_bounds = LocalBounds{4, 60};
    Choice choice;
    try {
      choice = best_configuration(model, limits);
    } catch (const std::invalid_argument&) {
      continue;
    }
    ASSERT_TRUE(std::isfinite(choice.goodput) && choice.goodput > 0) << i;
    ASSERT_LE(choice.configuration.batch, *limits.max_batch_size) << i;
    ASSERT_GE(choice.configuration.batch, limits.initial_batch) << i;
    ASSERT_TRUE(is_within(limits, model.allocation.ranks, choice.configuration)) << i;
  }
}

const GoodputModel simple_model = {
    {.substep_base = 0.1, .substep_per_sample = 1e-3}, {0.4, 0.02}, 128, {1, 4, {}, false}};
const BatchLimits simple_limits{.initial_batch = 128, .max_batch_size = 4096};

TEST(BestConfiguration, StaysUnlessTheBestIsBetterByTheHysteresis) {
  const Choice best = best_configuration(simple_model, simple_limits);
  int kept = 0, left = 0;
  for (const Configuration& current : batch_candidates(simple_limits, 4)) {
    const double ratio = best.goodput / goodput(simple_model, current);
    const Choice next = best_configuration(simple_model, simple_limits, current);
    EXPECT_EQ(next.configuration, ratio > 1.05 ? best.configuration : current);
    EXPECT_EQ(next.goodput, goodput(simple_model, next.configuration));
    (ratio > 1.05 ? left : kept) += 1;
  }
  EXPECT_GT(kept, 3);
  EXPECT_GT(left, 3);
}

TEST(BestConfiguration, LeavesWhatIsNoLongerWithinTheLimits) {
  const Choice best = best_configuration(simple_model, simple_limits);
  const Configuration& size = best.configuration;
  for (const Configuration& outside :
       {Configuration{size.minibatch + 1000, 1, size.batch + 4000},  // above the maximum
        Configuration{size.minibatch, 2, size.batch},                // of fewer ranks
        Configuration{16, 1, 64}}) {                                 // below the initial batch
    EXPECT_EQ(best_configuration(simple_model, simple_limits, outside).configuration, size);
  }
}

// Twice as many samples in the same time, each worth half.
TEST(BestConfiguration, IsTheSmallerOfTwoThatAreAsGood) {
  const GoodputModel model{{.substep_base = 0.1}, {0, 1}, 64, {1, 2, {}, false}};
  const BatchLimits limits{.initial_batch = 64,
                           .max_batch_size = 128,
                           .fixed_minibatch = 64,
                           .may_be_single_at_initial = true};
  EXPECT_EQ(goodput(model, {64, 1, 64}), goodput(model, {64, 1, 128}));
  EXPECT_EQ(best_configuration(model, limits).configuration.batch, 64u);
}

TEST(BestConfiguration, GrowsWithTheNoise) {
  std::uint64_t last = 0;
  for (const double variance : {1e-6, 0.01, 0.1, 1.0, 100.0}) {
    GoodputModel model = simple_model;
    model.noise.variance = variance;
    const std::uint64_t batch = best_configuration(model, simple_limits).configuration.batch;
    EXPECT_GE(batch, last);
    last = batch;
  }
  EXPECT_EQ(last, 4096u);
}

TEST(BestConfiguration, SmallerBatchesThanTheInitialOnlyIfAsked) {
  GoodputModel model = simple_model;
  model.times = {.substep_per_sample = 0.01};
  model.noise = {1e-3, 1};
  BatchLimits limits = simple_limits;
  EXPECT_EQ(best_configuration(model, limits).configuration.batch, 128u);
  limits.may_go_below_initial = true;
  EXPECT_LT(best_configuration(model, limits).configuration.batch, 20u);
}

// Four minibatches on three ranks take as long as six; a slow rank's one as long as two.
TEST(BestConfiguration, UpdateTakesAsLongAsItsSlowestRank) {
  GoodputModel model{{.substep_base = 1}, {1, 0}, 32, {1, 3, {}, false}};
  const BatchLimits limits{.initial_batch = 32, .max_batch_size = 160, .fixed_minibatch = 32};
  EXPECT_NEAR(goodput(model, {32, 2, 128}), 128 / 2.0, 1e-3);
  EXPECT_EQ(best_configuration(model, limits).configuration.batch, 96u);
  model.allocation.slowness = {1, 1, 2};
  EXPECT_NEAR(goodput(model, {32, 1, 96}), 96 / 2.0, 1e-3);
  model.allocation.shared_by_speed = true;
  EXPECT_EQ(best_configuration(model, limits).configuration.batch, 160u);
}

TEST(BestConfiguration, TakesLessThanAMillisecond) {
  GoodputModel model = simple_model;
  BatchLimits limits{.initial_batch = 128, .max_batch_size = 1u << 20};
  const auto search = [&] { best_configuration(model, limits); };
  EXPECT_LT(least_processor_seconds(search), 1e-3);
  limits.fixed_minibatch = 1;
  model.allocation = {4, 16, std::vector<double>(16, 1.0), true};
  EXPECT_LT(least_processor_seconds(search), 1e-3);
}

TEST(BestConfiguration, RefusesWhatMakesNoSense) {
  EXPECT_THAT(
      [] { best_configuration(simple_model, {.initial_batch = 64, .max_batch_size = 128}); },
      ThrowsMessage<std::invalid_argument>(
          "the limits' initial batch is 64; expected the model's, 128.000000"));
  GoodputModel model = simple_model;
  model.allocation.hosts = 0;
  EXPECT_THROW(best_configuration(model, simple_limits), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::optim
