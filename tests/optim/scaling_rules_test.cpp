// Each rule's two numbers, from the class, from the table and by name.
#include "optim/scaling_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

struct ExpectedFactor {
  std::string rule;
  double learning_rate;
  double gradient_scale;
};

// v = 2 and s = 1, so that gain(4) = 3 / 1.5 = 2 and gain(9) = 3 / (11 / 9) = 27 / 11.
GradientNoise known_noise() {
  GradientNoise noise(32);
  noise.observe({64, 2, 3, 2});
  return noise;
}

void expect_factors(double scale, const std::vector<ExpectedFactor>& expected) {
  const GradientNoise noise = known_noise();
  for (const ExpectedFactor& entry : expected) {
    SCOPED_TRACE(entry.rule);
    const auto elastic = make_elastic_optimizer(entry.rule, make_optimizer<float>({}),
                                                LearningRateSchedule(ScheduleOptions{}), {32});
    EXPECT_EQ(elastic->rule(), entry.rule);
    for (const UpdateRate& factor :
         {elastic->factor({scale, noise}), rule_factor(entry.rule, {scale, noise})}) {
      EXPECT_NEAR(factor.learning_rate, entry.learning_rate, 1e-13);
      EXPECT_EQ(factor.gradient_scale, entry.gradient_scale);
    }
  }
}

TEST(ScalingRules, HaveTheirFactors) {
  expect_factors(4, {{"constant", 1, 1},
                     {"linear", 4, 1},
                     {"linear-momentum", 1, 4},
                     {"root", 2, 1},
                     {"adascale", 2, 1},
                     {"adamscale", std::sqrt(2), 1},
                     {"legw", 2, 1}});
  expect_factors(9, {{"constant", 1, 1},
                     {"linear", 9, 1},
                     {"linear-momentum", 1, 9},
                     {"root", 3, 1},
                     {"adascale", 27.0 / 11, 1},
                     {"adamscale", std::sqrt(27.0 / 11), 1},
                     {"legw", 3, 1}});
}

TEST(ScalingRules, AgreeAtScaleOne) {
  const GradientNoise noise = known_noise();
  for (const std::string& rule : rule_names()) {
    EXPECT_EQ(rule_factor(rule, {1, noise}).learning_rate, 1) << rule;
    EXPECT_EQ(rule_factor(rule, {1, noise}).gradient_scale, 1) << rule;
  }
}

// In Adam's metric v = 8 and s = 1, so that gain(4) = 9 / 3 = 3; the gradient as it is has gain 2.
TEST(ScalingRules, AdamScaleLooksAtTheOptimizersMetricAndAdaScaleDoesNot) {
  const GradientNoise plain = known_noise();
  GradientNoise preconditioned(32);
  preconditioned.observe({256, 2, 3, 2});
  const ScaleFacts facts{4, plain, &preconditioned};
  EXPECT_NEAR(rule_factor("adamscale", facts).learning_rate, std::sqrt(3), 1e-13);
  EXPECT_NEAR(rule_factor("adascale", facts).learning_rate, 2, 1e-13);
  EXPECT_TRUE(rule_needs_metric("adamscale"));
  EXPECT_FALSE(rule_needs_metric("adascale"));
}

TEST(ScalingRules, LegwScalesWithWhatIsDoneOfItsWarmUp) {
  const GradientNoise noise = known_noise();
  EXPECT_EQ(rule_factor("legw", {9, noise, nullptr, 0.25}).learning_rate, 0.75);
  EXPECT_EQ(rule_factor("root", {9, noise, nullptr, 0.25}).learning_rate, 3);
}

TEST(ScalingRules, AdadeltaGoesWithTheConstantRuleAlone) {
  for (const std::string& rule : rule_names()) {
    EXPECT_NO_THROW(require_rule_fits(rule, "adam"));
    if (rule == "constant") {
      EXPECT_NO_THROW(require_rule_fits(rule, "adadelta"));
    } else {
      EXPECT_THAT([&] { require_rule_fits(rule, "adadelta"); },
                  ThrowsMessage<std::invalid_argument>(
                      "the rule " + rule +
                      " does not go with the optimizer adadelta, whose steps do not follow the "
                      "size of the gradient; choose the rule constant"));
    }
  }
}

TEST(ScalingRules, AdamScaleMeasuresInTheMetricOfAdamAlways) {
  const auto make = [](const char* inner, NoiseMetric metric) {
    OptimizerOptions options;
    options.name = inner;
    ElasticOptions elastic;
    elastic.reference_batch = 32;
    elastic.noise_metric = metric;
    return make_elastic_optimizer("adamscale", make_optimizer<float>(options),
                                  LearningRateSchedule(ScheduleOptions{}), elastic);
  };
  EXPECT_EQ(make("adam", NoiseMetric::automatic)->options().noise_metric,
            NoiseMetric::preconditioned);
  EXPECT_EQ(make("sgd", NoiseMetric::automatic)->options().noise_metric, NoiseMetric::automatic);
  EXPECT_THROW(make("adamw", NoiseMetric::plain), std::invalid_argument);
  EXPECT_EQ(make("adamw", NoiseMetric::both)->options().noise_metric, NoiseMetric::preconditioned);
}

// Each rule beside each schedule, a function of one's own among them: the product, and a schedule
// that is what it was.
TEST(ScalingRules, ComposeWithEverySchedule) {
  std::vector<LearningRateSchedule> schedules;
  for (const std::string& name : schedule_names()) {
    ScheduleOptions options;
    options.name = name;
    options.milestones = {1};
    options.span = 4;
    schedules.emplace_back(options);
  }
  schedules.push_back(
      LearningRateSchedule::of([](const Position& at) { return 0.5 / (1 + at.epoch); }));
  Position position;
  position.epoch = 2;
  for (const LearningRateSchedule& schedule : schedules) {
    for (const std::string& rule : rule_names()) {
      const auto elastic = make_elastic_optimizer(rule, make_optimizer<float>({}), schedule, {32});
      const auto decision = elastic->decide(GradientFacts{128, 3, 3, 2}, position);
      EXPECT_EQ(decision.schedule_rate, schedule.rate(position)) << rule;
      EXPECT_EQ(decision.rate.learning_rate, decision.schedule_rate * decision.factor) << rule;
      EXPECT_EQ(elastic->schedule().rate(position), schedule.rate(position)) << rule;
    }
  }
}

TEST(ScalingRules, AreKnownByName) {
  EXPECT_THAT(rule_names(), ElementsAre("constant", "linear", "linear-momentum", "root", "adascale",
                                        "adamscale", "legw"));
  const GradientNoise noise(32);
  EXPECT_THAT(
      [&] {
        rule_factor("ada-scale", {1, noise});
      },
      ThrowsMessage<std::invalid_argument>(
          "unknown scaling rule 'ada-scale'; valid names: constant, linear, "
          "linear-momentum, root, adascale, adamscale, legw"));
  EXPECT_THROW(make_elastic_optimizer("none", make_optimizer<float>({}),
                                      LearningRateSchedule(ScheduleOptions{}), {32}),
               std::invalid_argument);
}

}  // namespace
}  // namespace rubato::optim
