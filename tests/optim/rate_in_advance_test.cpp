// When an update's rate is known before its gradient: then it is the rate that is chosen after.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "optim/elastic_optimizer.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::optim {
namespace {

constexpr GradientFacts some_facts = {128, 3, 3, 2};

std::unique_ptr<ElasticOptimizer> make_elastic(const std::string& rule,
                                               ElasticOptions options = {.reference_batch = 32}) {
  ScheduleOptions schedule;
  schedule.base_rate = 0.3;
  schedule.name = "step";
  schedule.unit = ScheduleUnit::progress;
  schedule.step_size = 2;
  OptimizerOptions inner;
  inner.name = "adam";
  return make_elastic_optimizer(rule, make_optimizer<float>(inner), LearningRateSchedule(schedule),
                                std::move(options));
}

TEST(RateInAdvance, IsTheRateThatIsChosenUnlessTheRuleNeedsTheGradient) {
  const std::set<std::string> needing{"adascale", "adamscale"};
  for (const std::string& rule : rule_names()) {
    const auto elastic =
        make_elastic(rule, {.reference_batch = 32, .clip_norm = 0, .legw_warmup_updates = 3});
    for (int update = 0; update < 5; ++update) {
      const Position position{.update = static_cast<double>(update)};
      const auto in_advance = elastic->rate_in_advance(some_facts.batch_size, position);
      const UpdateRate chosen = elastic->decide(some_facts, position).rate;
      ASSERT_EQ(in_advance.has_value(), !needing.contains(rule)) << rule;
      if (!in_advance) continue;
      EXPECT_EQ(in_advance->learning_rate, chosen.learning_rate) << rule << ", update " << update;
      EXPECT_EQ(in_advance->gradient_scale, chosen.gradient_scale) << rule;
      EXPECT_EQ(in_advance->gradient_clip, chosen.gradient_clip) << rule;
    }
  }
}

TEST(RateInAdvance, IsNotKnownWhereTheGradientIsClippedOrMeasured) {
  EXPECT_TRUE(make_elastic("linear")->rate_in_advance(64, {}));
  EXPECT_FALSE(
      make_elastic("linear", {.reference_batch = 32, .clip_norm = 1})->rate_in_advance(64, {}));
  EXPECT_FALSE(make_elastic("linear", {.reference_batch = 32, .tensors = {"fc.weight"}})
                   ->rate_in_advance(64, {}));
  for (const NoiseMetric metric : {NoiseMetric::preconditioned, NoiseMetric::both}) {
    EXPECT_FALSE(make_elastic("linear", {.reference_batch = 32, .noise_metric = metric})
                     ->rate_in_advance(64, {}));
  }
  EXPECT_FALSE(make_elastic("linear", {.reference_batch = 32,
                                       .single_minibatch = SingleMinibatch::difference})
                   ->rate_in_advance(64, {}));
}

TEST(RateInAdvance, IsNotKnownWhereStepsFollowTheNormsOfTensors) {
  for (const char* name : {"lars", "lamb"}) {
    const auto elastic =
        make_elastic_optimizer("linear", make_optimizer<float>({.name = name}),
                               LearningRateSchedule(ScheduleOptions{}), {.reference_batch = 32});
    EXPECT_FALSE(elastic->rate_in_advance(64, {})) << name;
  }
}

}  // namespace
}  // namespace rubato::optim
