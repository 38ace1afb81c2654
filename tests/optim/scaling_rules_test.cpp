// Each rule's two numbers, from the class, from the table and by name.
#include "optim/scaling_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
                     {"adascale", 2, 1}});
  expect_factors(9, {{"constant", 1, 1},
                     {"linear", 9, 1},
                     {"linear-momentum", 1, 9},
                     {"root", 3, 1},
                     {"adascale", 27.0 / 11, 1}});
}

TEST(ScalingRules, AgreeAtScaleOne) {
  const GradientNoise noise = known_noise();
  for (const std::string& rule : rule_names()) {
    EXPECT_EQ(rule_factor(rule, {1, noise}).learning_rate, 1) << rule;
    EXPECT_EQ(rule_factor(rule, {1, noise}).gradient_scale, 1) << rule;
  }
}

TEST(ScalingRules, AreKnownByName) {
  EXPECT_THAT(rule_names(),
              ElementsAre("constant", "linear", "linear-momentum", "root", "adascale"));
  const GradientNoise noise(32);
  EXPECT_THAT(
      [&] {
        rule_factor("ada-scale", {1, noise});
      },
      ThrowsMessage<std::invalid_argument>(
          "unknown scaling rule 'ada-scale'; valid names: constant, linear, "
          "linear-momentum, root, adascale"));
  EXPECT_THROW(make_elastic_optimizer("none", make_optimizer<float>({}),
                                      LearningRateSchedule(ScheduleOptions{}), {32}),
               std::invalid_argument);
}

}  // namespace
}  // namespace rubato::optim
