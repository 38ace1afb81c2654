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
    elastic->decide({facts, facts}, {});
    elastic->decide(GradientFacts{32, 1, 7, 7}, {});  // scale 1: gain 1
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
    if (rule != "adamscale") {
      EXPECT_EQ(elastic->shadow_rate(rule), 0);
    }
    elastic->decide(GradientFacts{64, 2, 5, 2},
                    {});  // a shadow is of the last update, not of an earlier one
    const auto decision = elastic->decide(facts, {});
    EXPECT_EQ(elastic->shadow_rate("constant"), 0.1);
    EXPECT_EQ(elastic->shadow_rate("linear"), 0.1 * 4);
    EXPECT_EQ(elastic->shadow_rate("linear-momentum"), 0.1 * 4);
    EXPECT_EQ(elastic->shadow_rate("root"), 0.1 * 2);
    EXPECT_EQ(elastic->shadow_rate("legw"), 0.1 * 2);
    if (rule == "adamscale") {  // observes nothing in adam's metric here
      EXPECT_EQ(decision.gain, 1);
      EXPECT_EQ(elastic->shadow_rate("adamscale"), 0.1);
      continue;
    }
    EXPECT_TRUE(std::isnan(elastic->shadow_rate("adamscale")));  // it is not measured
    EXPECT_EQ(elastic->shadow_rate("adascale"), 0.1 * decision.gain);
    EXPECT_EQ(elastic->shadow_rate(rule),
              decision.rate.learning_rate * decision.rate.gradient_scale);
    EXPECT_THROW(elastic->shadow_rate("none"), std::invalid_argument);
  }
}

std::unique_ptr<ElasticOptimizer> make_measuring(const std::string& rule,
                                                 const ElasticOptions& options,
                                                 const std::string& inner = "adam") {
  OptimizerOptions inner_options;
  inner_options.name = inner;
  return make_elastic_optimizer(rule, make_optimizer<float>(inner_options),
                                LearningRateSchedule(ScheduleOptions{}), options);
}

// Plain: gain 1.75. In adam's metric: T = (3 - 2) 128 / 1 = 128, v = 4, s = 1, gain = 5 / 2.
TEST(ElasticOptimizer, GainOfAdamScaleIsThatOfTheMetric) {
  const auto elastic = make_measuring("adamscale", {32});
  const auto decision = elastic->decide({facts, {128, 2, 3, 2}}, {});
  EXPECT_NEAR(decision.gain, 2.5, 1e-13);
  EXPECT_NEAR(decision.factor, std::sqrt(2.5), 1e-13);
  EXPECT_NEAR(elastic->noise().noise_scale(), 128, 1e-10);
  EXPECT_NEAR(elastic->shadow_rate("adascale"), 0.1 * gain, 1e-13);
}

// Plain, and beside it what adamscale would have chosen.
TEST(ElasticOptimizer, MeasuresBothWhereItIsAskedTo) {
  ElasticOptions options{32};
  options.noise_metric = NoiseMetric::both;
  const auto elastic = make_measuring("root", options);
  const auto decision = elastic->decide({facts, {128, 2, 3, 2}}, {});
  EXPECT_NEAR(decision.gain, gain, 1e-13);
  EXPECT_NEAR(elastic->noise().noise_scale(), 32 * 2 / 1.5, 1e-10);
  EXPECT_NEAR(elastic->shadow_rate("adamscale"), 0.1 * std::sqrt(2.5), 1e-13);
}

TEST(ElasticOptimizer, MeasuresInTheMetricWhereItIsAskedTo) {
  ElasticOptions options{32};
  options.noise_metric = NoiseMetric::preconditioned;
  const auto elastic = make_measuring("root", options);
  const auto decision = elastic->decide({facts, {128, 2, 3, 2}}, {});
  EXPECT_EQ(decision.factor, 2);
  EXPECT_NEAR(decision.gain, 2.5, 1e-13);
  EXPECT_NEAR(elastic->shadow_rate("adamscale"), 0.1 * std::sqrt(2.5), 1e-13);
  EXPECT_THAT(
      [&] { make_measuring("root", options, "sgd"); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("the optimizer has no metric of its own")));
}

TEST(ElasticOptimizer, ClipsAtTheReferenceScale) {
  ElasticOptions options{32};
  options.clip_norm = 0.5;
  for (const std::string& rule : rule_names()) {
    const auto elastic = make_measuring(rule, options);
    const auto clipped = elastic->decide({{128, 3, 3, 2}, {128, 3, 3, 2}}, {}).rate;
    EXPECT_NEAR(clipped.gradient_clip, 0.5 / std::sqrt(2), 1e-15) << rule;
    const auto free = elastic->decide({{128, 3, 1, 0.25}, {128, 3, 1, 0.25}}, {}).rate;
    EXPECT_EQ(free.gradient_clip, 1) << rule;
    if (rule != "adascale" && rule != "adamscale") {
      EXPECT_EQ(free.learning_rate, clipped.learning_rate) << rule;
    }
    EXPECT_EQ(make_measuring(rule, {32})->decide(facts, {}).rate.gradient_clip, 1);
  }
}

TEST(ElasticOptimizer, WarmsLegwUpOverAsManyUpdatesWhateverTheBatch) {
  ElasticOptions options{32};
  options.legw_warmup_updates = 4;
  const auto elastic = make_measuring("legw", options, "sgd");
  std::vector<double> factors;
  for (int update = 0; update < 6; ++update) {
    Position position;
    position.update = update;
    const double batch = update == 1 ? 512 : 128;  // S = 16, else 4
    factors.push_back(elastic->decide(GradientFacts{batch, 2, 3, 2}, position).factor);
  }
  EXPECT_THAT(factors, ElementsAre(0.5, 2, 1.5, 2, 2, 2));
}

TEST(ElasticOptimizer, PredictsGainsAndTakesTheScaleThatComes) {
  const auto elastic = make_elastic("adascale");
  EXPECT_EQ(elastic->gain(), 1);
  EXPECT_EQ(elastic->predict_gain(8), 1);
  const auto decision = elastic->decide(facts, {});
  EXPECT_EQ(elastic->scale(), 4);
  EXPECT_EQ(elastic->gain(), decision.gain);
  EXPECT_NEAR(elastic->predict_gain(8), 3.5 / (2.0 / 8 + 1.5), 1e-13);
  EXPECT_EQ(elastic->gain(8), elastic->predict_gain(8));
  EXPECT_NEAR(elastic->efficiency(), gain / 4, 1e-13);
  elastic->update_scale(8);
  EXPECT_EQ(elastic->gain(), elastic->gain(8));
  EXPECT_NEAR(elastic->efficiency(), elastic->gain(8) / 8, 1e-13);
  EXPECT_EQ(elastic->progress(), decision.gain);
  EXPECT_THAT([&] { elastic->update_scale(0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("scale is 0")));
}

// Updates of one minibatch: the first is kept, the second compared with it, and so on; one that has
// minibatches of its own to compare comes between no two.
TEST(ElasticOptimizer, ComparesSingleMinibatchesTwoByTwo) {
  ElasticOptions options{32};
  options.single_minibatch = SingleMinibatch::difference;
  const auto elastic = make_measuring("adascale", options, "sgd");
  const GradientFacts single{32, 1, 3, 3, 5, 2};  // |g|^2 = 3, |p|^2 = 5, <p, g> = 2
  elastic->decide(single, {});
  EXPECT_EQ(elastic->noise().variance(), 0);
  elastic->decide(single, {});
  // T = (Q - Y) 64 with Q = 4 and Y = (5 + 4 + 3) / 4 = 3; s = 2 Y - Q = <p, g>
  EXPECT_NEAR(elastic->noise().variance(), 2, 1e-13);
  EXPECT_NEAR(elastic->noise().square(), 2, 1e-13);
  const double before = elastic->scalars()[2].value;
  EXPECT_EQ(elastic->scalars()[2].name, "kept_batch");
  EXPECT_EQ(before, 0);
  elastic->decide(single, {});
  EXPECT_EQ(elastic->scalars()[2].value, 32);
  elastic->decide(GradientFacts{64, 2, 3, 2}, {});
  EXPECT_EQ(elastic->scalars()[2].value, 0);
  EXPECT_THAT(elastic->state_names(), ElementsAre("kept_gradient"));
  EXPECT_THAT(make_measuring("adascale", {32})->state_names(),
              ElementsAre("exp_avg", "exp_avg_sq"));
}

TEST(ElasticOptimizer, MeasuresTensorsApart) {
  ElasticOptions options{32};
  options.tensors = {"a", "a.weight"};
  const auto elastic = make_measuring("adascale", options, "sgd");
  const std::vector<GradientFacts> tensors = {{128, 2, 3, 2}, {128, 3, 3, 2}};
  elastic->decide(UpdateFacts{facts, {}, tensors}, {});
  EXPECT_NEAR(elastic->tensor_noise()[0].noise_scale(), 128, 1e-10);
  EXPECT_NEAR(elastic->tensor_noise()[1].noise_scale(), 64 / 1.5, 1e-10);
  const auto resumed = make_measuring("adascale", options, "sgd");
  resumed->restore_scalars(elastic->scalars());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(resumed->tensor_noise()[i].noise_scale(), elastic->tensor_noise()[i].noise_scale());
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
              ElementsAre("progress", "scale", "noise.variance_sum", "noise.square_sum",
                          "noise.weight_sum", "noise.variance_square_sum",
                          "noise.cross_product_sum", "noise.square_square_sum", "inner.step"));

  const auto resumed = make_elastic("adascale");
  resumed->restore_scalars(unbroken->scalars());
  EXPECT_EQ(resumed->inner().scalars()[0].value, 1);
  EXPECT_EQ(resumed->scale(), 4);
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
  EXPECT_THAT([] { make_elastic("linear")->decide(GradientFacts{}, {}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("batch size of an update is 0")));
}

}  // namespace
}  // namespace rubato::optim
