// The shared part of all rules: what decide() reads, in which order, what it returns and what it
// leaves behind.
#include "optim/elastic_optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "optim/scaling_rules.hpp"

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::unique_ptr<ElasticOptimizer> make_elastic(const std::string& rule,
                                               ScheduleOptions schedule = {},
                                               const std::string& inner = "adam") {
  OptimizerOptions options;
  options.name = inner;
  return make_elastic_optimizer(rule, make_optimizer<float>(options),
                                LearningRateSchedule(schedule), {32});
}

// Reference batch 32: S = 4, T = (3 - 2) 128 / 2 = 64, v = 2, s = (3 * 2 - 3) / 2 = 1.5, gain = 3.5
// / 2.
constexpr GradientFacts facts = {128, 3, 3, 2};
constexpr double gain = 1.75;

TEST(ElasticOptimizer, DecidesRateFromScheduleAndFactor) {
  ScheduleOptions schedule;
  schedule.name = "step";
  schedule.gamma = 0.5;
  schedule.base_rate = 0.25;
  Position position;
  position.epoch = 1;
  const auto decision = make_elastic("linear", schedule)->decide(facts, position);
  EXPECT_EQ(decision.schedule_rate, 0.125);
  EXPECT_EQ(decision.factor, 4);
  EXPECT_EQ(decision.rate.learning_rate, 0.5);
  EXPECT_EQ(decision.rate.gradient_scale, 1);
  EXPECT_NEAR(decision.gain, gain, 1e-13);
}

TEST(ElasticOptimizer, KnowsTheRateInAdvanceWhereTheRuleNeedsNoGradient) {
  ScheduleOptions schedule;
  schedule.base_rate = 0.3;
  schedule.name = "step";
  schedule.unit = ScheduleUnit::progress;
  schedule.step_size = 2;
  for (const std::string& rule : rule_names()) {
    const auto elastic = make_elastic(rule, schedule);
    for (int update = 0; update < 4; ++update) {
      const auto in_advance = elastic->rate_in_advance(facts.batch_size, {});
      const UpdateRate chosen = elastic->decide(facts, {}).rate;
      ASSERT_EQ(in_advance.has_value(), rule != "adascale") << rule;
      if (!in_advance) continue;
      EXPECT_EQ(in_advance->learning_rate, chosen.learning_rate) << rule;
      EXPECT_EQ(in_advance->gradient_scale, chosen.gradient_scale) << rule;
    }
  }
}

TEST(ElasticOptimizer, GainCountsTheGradientOfTheUpdateItself) {
  const auto decision = make_elastic("adascale")->decide(facts, {});
  EXPECT_NEAR(decision.factor, gain, 1e-13);
}

TEST(ElasticOptimizer, LinearMomentumScalesTheGradientAndNotTheRate) {
  const auto decision = make_elastic("linear-momentum")->decide(facts, {});
  EXPECT_EQ(decision.rate.learning_rate, 0.1);
  EXPECT_EQ(decision.rate.gradient_scale, 4);
  EXPECT_EQ(decision.factor, 1);
}

TEST(ElasticOptimizer, ProgressAddsUpTheGainsWhateverTheRule) {
  for (const std::string& rule : rule_names()) {
    const auto elastic = make_elastic(rule);
    elastic->decide(facts, {});
    elastic->decide({32, 1, 7, 7}, {});  // scale 1: gain 1
    EXPECT_NEAR(elastic->progress(), gain + 1, 1e-13) << rule;
  }
}

// A milestone at progress 3: passed by two gains of 1.75, so the third update is the first to see
// it. What the caller says about progress is not looked at.
TEST(ElasticOptimizer, ScheduleByProgressSeesWhatWasDoneBefore) {
  ScheduleOptions schedule;
  schedule.name = "multistep";
  schedule.unit = ScheduleUnit::progress;
  schedule.milestones = {3};
  const auto elastic = make_elastic("constant", schedule);
  Position position;
  position.progress = 100;
  std::vector<double> rates;
  for (int update = 0; update < 3; ++update) {
    rates.push_back(elastic->decide(facts, position).schedule_rate);
  }
  EXPECT_THAT(rates, ElementsAre(0.1, 0.1, 0.1 * 0.1));
}

TEST(ElasticOptimizer, ShadowRatesAreWhatEachRuleWouldHaveStepped) {
  for (const std::string& rule : rule_names()) {
    const auto elastic = make_elastic(rule);
    EXPECT_EQ(elastic->shadow_rate(rule), 0);
    elastic->decide({64, 2, 5, 2}, {});  // a shadow is of the last update, not of an earlier one
    const auto decision = elastic->decide(facts, {});
    EXPECT_EQ(elastic->shadow_rate("constant"), 0.1);
    EXPECT_EQ(elastic->shadow_rate("linear"), 0.1 * 4);
    EXPECT_EQ(elastic->shadow_rate("linear-momentum"), 0.1 * 4);
    EXPECT_EQ(elastic->shadow_rate("root"), 0.1 * 2);
    EXPECT_EQ(elastic->shadow_rate("adascale"), 0.1 * decision.gain);
    EXPECT_EQ(elastic->shadow_rate(rule),
              decision.rate.learning_rate * decision.rate.gradient_scale);
    EXPECT_THROW(elastic->shadow_rate("none"), std::invalid_argument);
  }
}

TEST(ElasticOptimizer, LeavesTheInnerOptimizerToTheCaller) {
  const auto elastic = make_elastic("linear");
  elastic->decide(facts, {});
  EXPECT_EQ(elastic->inner().scalars()[0].value, 0);  // adam's step
}

std::vector<std::string> names_of(const std::vector<NamedScalar>& scalars) {
  std::vector<std::string> names;
  for (const NamedScalar& scalar : scalars) names.push_back(scalar.name);
  return names;
}

TEST(ElasticOptimizer, GoesOnFromItsScalars) {
  const auto unbroken = make_elastic("adascale");
  unbroken->decide(facts, {});
  unbroken->inner().begin_update({0.1, 1});
  EXPECT_THAT(names_of(unbroken->scalars()),
              ElementsAre("progress", "noise.variance_sum", "noise.square_sum", "noise.weight_sum",
                          "inner.step"));

  const auto resumed = make_elastic("adascale");
  resumed->restore_scalars(unbroken->scalars());
  EXPECT_EQ(resumed->inner().scalars()[0].value, 1);
  const GradientFacts next = {96, 3, 2.5, 2.25};
  EXPECT_EQ(resumed->decide(next, {}).rate.learning_rate,
            unbroken->decide(next, {}).rate.learning_rate);
  EXPECT_EQ(resumed->progress(), unbroken->progress());
}

TEST(ElasticOptimizer, RefusesTheStateOfAnotherWithoutTakingAnyOfIt) {
  const auto adam = make_elastic("adascale");
  const auto sgd = make_elastic("adascale", {}, "sgd");
  adam->decide(facts, {});
  EXPECT_THAT([&] { sgd->restore_scalars(adam->scalars()); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("state of elastic optimizer: scalar 'inner.step' is unknown")));
  EXPECT_EQ(sgd->progress(), 0);
  EXPECT_EQ(sgd->noise().variance(), 0);
}

TEST(ElasticOptimizer, RefusesWhatMakesNoSense) {
  const LearningRateSchedule schedule{ScheduleOptions{}};
  EXPECT_THAT([&] { ConstantOptimizer elastic(nullptr, schedule, {32}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("expected an optimizer to wrap")));
  EXPECT_THAT(
      [&] { ConstantOptimizer elastic(make_optimizer<float>({}), schedule, ElasticOptions{}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("reference batch is 0")));
  EXPECT_THAT([] { make_elastic("linear")->decide({}, {}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("batch size of an update is 0")));
}

}  // namespace
}  // namespace rubato::optim
