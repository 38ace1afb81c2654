// Facts go where they belong.
#include "runtime/step_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "optim/scaling_rules.hpp"

namespace rubato::runtime {
namespace {

TEST(StepReport, CarriesTheFactsOfTheUpdate) {
  optim::ScheduleOptions schedule;
  schedule.base_rate = 0.5;
  optim::LinearRuleMomentumOptimizer optimizer(optim::make_optimizer<float>({.name = "sgd"}),
                                               optim::LearningRateSchedule(schedule),
                                               optim::ElasticOptions{.reference_batch = 16});
  data::PlannedUpdate update;
  update.begin.epoch = 3;
  update.begin.update = 6;
  update.end.update = 7;
  update.end.samples = 200;
  update.batch_size = 64;
  update.minibatches.resize(4);
  optim::UpdateSums sums;
  sums.loss_sum = 32;
  sums.samples = 64;
  sums.correct = 48;
  sums.gradient = {64, 4, 2.5, 1.0};
  const auto decision = optimizer.decide(sums.gradient, {});
  const StepReport report =
      step_report(update, sums, decision, optimizer, {"constant", "root", "linear"});

  EXPECT_EQ(report.update, 7U);
  EXPECT_EQ(report.epoch, 3U);
  EXPECT_EQ(report.batch_size, 64U);
  EXPECT_EQ(report.substeps, 4U);
  EXPECT_EQ(report.samples, 200U);
  EXPECT_DOUBLE_EQ(report.loss, 0.5);
  EXPECT_DOUBLE_EQ(report.accuracy, 0.75);
  EXPECT_DOUBLE_EQ(report.learning_rate, 2.0);  // 0.5 x 4, the 4 inside the momentum buffer
  EXPECT_DOUBLE_EQ(report.learning_rate_factor, 4.0);
  // T = (Q - Y) B/(n-1) = 32, so v = 2 at the reference batch; s = (n Y - Q)/(n-1) = 0.5.
  EXPECT_DOUBLE_EQ(report.gradient_variance, 2.0);
  EXPECT_DOUBLE_EQ(report.gradient_square, 0.5);
  EXPECT_DOUBLE_EQ(report.noise_scale, 64.0);
  EXPECT_DOUBLE_EQ(report.gain, 2.5);  // (2 + 0.5) / (2/4 + 0.5)
  EXPECT_DOUBLE_EQ(report.scaled_updates, 2.5);
  ASSERT_EQ(report.shadow_rates.size(), 3U);
  EXPECT_DOUBLE_EQ(report.shadow_rates[0].rate, 0.5);
  EXPECT_DOUBLE_EQ(report.shadow_rates[1].rate, 1.0);
  EXPECT_DOUBLE_EQ(report.shadow_rates[2].rate, 2.0);
  EXPECT_DOUBLE_EQ(report.efficiency, 2.5 / 4);
  EXPECT_EQ(report.noise_interval.low, 0);  // of one observation
  EXPECT_TRUE(std::isinf(report.noise_interval.high));
  EXPECT_FALSE(report.was_repeated);
  EXPECT_FALSE(report.clip);
  EXPECT_TRUE(report.tensor_noise.empty());
}

TEST(StepReport, TellsOfTheClipAndOfTensorsWhereTheyAreAskedFor) {
  optim::ElasticOptions options{.reference_batch = 16, .clip_norm = 2};
  options.tensors = {"fc.weight"};
  optim::AdaScaleOptimizer optimizer(optim::make_optimizer<float>({.name = "sgd"}),
                                     optim::LearningRateSchedule({}), options);
  data::PlannedUpdate update;
  update.batch_size = 64;
  optim::UpdateSums sums;
  sums.samples = 64;
  sums.gradient = {64, 4, 40, 16};
  const std::vector<optim::GradientFacts> tensors = {{64, 4, 2.5, 1.0}};
  sums.tensors = tensors;
  const auto decision = optimizer.decide({sums.gradient, sums.preconditioned, sums.tensors}, {});
  const StepReport report = step_report(update, sums, decision, optimizer, {});
  EXPECT_DOUBLE_EQ(report.clip.value(), 0.5);
  ASSERT_EQ(report.tensor_noise.size(), 1U);
  EXPECT_EQ(report.tensor_noise[0].tensor, "fc.weight");
  EXPECT_DOUBLE_EQ(report.tensor_noise[0].noise_scale, 64.0);
}

}  // namespace
}  // namespace rubato::runtime
