// Every shape at, just before and just after the places where it changes, in each unit, with and
// without warm-up.
#include "optim/learning_rate_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

ScheduleOptions named(const std::string& name) {
  ScheduleOptions options;
  options.name = name;
  options.base_rate = 0.5;
  return options;
}

double rate_at_epoch(const ScheduleOptions& options, double epoch) {
  Position position;
  position.epoch = epoch;
  return LearningRateSchedule(options).rate(position);
}

double just_below(double value) { return std::nextafter(value, 0.0); }

TEST(LearningRateSchedule, ConstantStays) {
  EXPECT_EQ(rate_at_epoch(named("constant"), 0), 0.5);
  EXPECT_EQ(rate_at_epoch(named("constant"), 1e9), 0.5);
}

TEST(LearningRateSchedule, StepFallsAtEachMultipleOfItsSize) {
  ScheduleOptions options = named("step");
  options.gamma = 0.25;
  options.step_size = 2;
  EXPECT_EQ(rate_at_epoch(options, 0), 0.5);
  EXPECT_EQ(rate_at_epoch(options, just_below(2)), 0.5);
  EXPECT_EQ(rate_at_epoch(options, 2), 0.125);
  EXPECT_EQ(rate_at_epoch(options, just_below(6)), 0.03125);
  EXPECT_EQ(rate_at_epoch(options, 6), 0.0078125);
}

TEST(LearningRateSchedule, MultistepFallsAtEachMilestone) {
  ScheduleOptions options = named("multistep");
  options.gamma = 0.5;
  options.milestones = {1, 3, 3.5};
  EXPECT_EQ(rate_at_epoch(options, just_below(1)), 0.5);
  EXPECT_EQ(rate_at_epoch(options, 1), 0.25);
  EXPECT_EQ(rate_at_epoch(options, just_below(3)), 0.25);
  EXPECT_EQ(rate_at_epoch(options, 3), 0.125);
  EXPECT_EQ(rate_at_epoch(options, 3.5), 0.0625);
  EXPECT_EQ(rate_at_epoch(options, 100), 0.0625);
}

TEST(LearningRateSchedule, CosineRunsFromBaseToEndAndStaysThere) {
  ScheduleOptions options = named("cosine");
  options.span = 6;
  options.end_rate = 0.1;
  EXPECT_EQ(rate_at_epoch(options, 0), 0.5);
  EXPECT_NEAR(rate_at_epoch(options, 2), 0.1 + 0.4 * 0.75, 1e-15);
  EXPECT_NEAR(rate_at_epoch(options, 3), 0.3, 1e-15);
  EXPECT_NEAR(rate_at_epoch(options, 4), 0.1 + 0.4 * 0.25, 1e-15);
  EXPECT_EQ(rate_at_epoch(options, 6), 0.1);
  EXPECT_EQ(rate_at_epoch(options, 12), 0.1);
}

TEST(LearningRateSchedule, PolynomialRunsFromBaseToEndAndStaysThere) {
  ScheduleOptions options = named("polynomial");
  options.span = 8;
  options.end_rate = 0.1;
  EXPECT_EQ(rate_at_epoch(options, 0), 0.5);
  EXPECT_NEAR(rate_at_epoch(options, 2), 0.1 + 0.4 * 0.5625, 1e-15);
  EXPECT_EQ(rate_at_epoch(options, 8), 0.1);
  EXPECT_EQ(rate_at_epoch(options, 100), 0.1);
  options.power = 1;
  EXPECT_NEAR(rate_at_epoch(options, 2), 0.1 + 0.4 * 0.75, 1e-15);
  options.warmup_span = 2;
  EXPECT_EQ(rate_at_epoch(options, 1), 0.25);
  EXPECT_EQ(rate_at_epoch(options, 2), 0.5);
  EXPECT_NEAR(rate_at_epoch(options, 6), 0.3, 1e-15);
}

// 200 epochs of 391 updates: 0.05 to 0.1 in the first 5, and from epoch 6 on the descent, which has
// come to 2 in its first update.
TEST(LearningRateSchedule, PolynomialAndWarmUpFollowThePublishedSchedule) {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/optimizer_golden.json");
  const auto golden = nlohmann::json::parse(file)["seed_lr_schedule"];
  ScheduleOptions warmup = named("constant");
  warmup.base_rate = 0.1;
  warmup.warmup_span = 5;
  warmup.warmup_start = 0.5;
  ScheduleOptions descent = named("polynomial");
  descent.unit = ScheduleUnit::update;
  descent.base_rate = 0.1;
  descent.end_rate = golden["config"]["end_lr"].get<double>();
  descent.span = 200 * 391;
  for (const auto& sample : golden["samples"]["torch<=1.0"]) {
    const auto epoch = sample["epoch"].get<double>();
    Position position;
    position.epoch = epoch;
    position.update = 2 + (epoch - 6) * 391 + sample["iter"].get<double>();
    const double rate = LearningRateSchedule(epoch < 6 ? warmup : descent).rate(position);
    EXPECT_NEAR(rate, sample["lr"].get<double>(), 1e-12 * rate) << sample;
  }
}

TEST(LearningRateSchedule, WarmUpRisesInALineToTheBaseRate) {
  ScheduleOptions options = named("constant");
  options.warmup_span = 4;
  EXPECT_EQ(rate_at_epoch(options, 0), 0);
  EXPECT_EQ(rate_at_epoch(options, 1), 0.125);
  options.warmup_start = 0.5;
  EXPECT_EQ(rate_at_epoch(options, 0), 0.25);
  EXPECT_EQ(rate_at_epoch(options, 3), 0.4375);
  EXPECT_EQ(rate_at_epoch(options, 4), 0.5);
  EXPECT_EQ(rate_at_epoch(options, 5), 0.5);
}

// From the base rate to a multiple of it, which is where any shape begins.
TEST(LearningRateSchedule, WarmUpMayEndAtAMultiple) {
  for (const std::string& name : schedule_names()) {
    ScheduleOptions options = named(name);
    options.span = 8;
    options.step_size = 10;
    options.milestones = {10};
    options.warmup_span = 4;
    options.warmup_start = 1;
    options.warmup_multiplier = 3;
    EXPECT_EQ(rate_at_epoch(options, 0), 0.5) << name;
    EXPECT_EQ(rate_at_epoch(options, 2), 1) << name;
    EXPECT_NEAR(rate_at_epoch(options, 4), 1.5, 1e-15) << name;
  }
}

// Goyal's rule for a batch that changes on the way: the warm-up is over when so many samples have
// been used. By samples or epochs the rate rises by as much for each of them, in steps of the
// batches; in updates it would come there early or late.
TEST(LearningRateSchedule, WarmUpOverAChangingBatchCountsSamples) {
  constexpr double epoch_samples = 1024;
  ScheduleOptions options = named("constant");
  options.warmup_span = 5;
  options.warmup_start = 1;
  options.warmup_multiplier = 8;
  ScheduleOptions by_updates = options;
  by_updates.unit = ScheduleUnit::update;
  by_updates.warmup_span = 5 * epoch_samples / 32;  // at the first batch
  Position position;
  double previous = 0, previous_batch = 0;
  while (position.epoch < 5) {
    const double batch = position.epoch < 2 ? 32 : position.epoch < 3 ? 256 : 64;
    const double rate = LearningRateSchedule(options).rate(position);
    if (position.update > 0) {
      EXPECT_NEAR(rate - previous, 0.5 * 7 * previous_batch / (5 * epoch_samples), 1e-14);
    }
    previous = rate;
    previous_batch = batch;
    position.update += 1;
    position.sample += batch;
    position.epoch = position.sample / epoch_samples;
  }
  EXPECT_EQ(position.epoch, 5);
  EXPECT_EQ(LearningRateSchedule(options).rate(position), 4);
  EXPECT_LT(LearningRateSchedule(by_updates).rate(position), 3);
}

TEST(LearningRateSchedule, CosineCountsFromTheEndOfTheWarmUp) {
  ScheduleOptions options = named("cosine");
  options.warmup_span = 2;
  options.span = 6;
  EXPECT_EQ(rate_at_epoch(options, 1), 0.25);
  EXPECT_EQ(rate_at_epoch(options, 2), 0.5);
  EXPECT_NEAR(rate_at_epoch(options, 5), 0.25, 1e-15);
  EXPECT_EQ(rate_at_epoch(options, 8), 0);
}

TEST(LearningRateSchedule, StepAndMultistepCountFromTheStart) {
  ScheduleOptions options = named("step");
  options.gamma = 0.5;
  options.step_size = 3;
  options.warmup_span = 2;
  EXPECT_EQ(rate_at_epoch(options, 2), 0.5);
  EXPECT_EQ(rate_at_epoch(options, 3), 0.25);
  options.warmup_span = 3;  // ends where the first step is due
  EXPECT_NEAR(rate_at_epoch(options, just_below(3)), 0.5, 1e-15);
  EXPECT_EQ(rate_at_epoch(options, 3), 0.25);
  options.warmup_span = 2;
  options.name = "multistep";
  options.milestones = {4};
  EXPECT_EQ(rate_at_epoch(options, 1), 0.25);
  EXPECT_EQ(rate_at_epoch(options, 3), 0.5);
  EXPECT_EQ(rate_at_epoch(options, 4), 0.25);
}

TEST(LearningRateSchedule, CountsInTheUnitItIsGiven) {
  ScheduleOptions options = named("multistep");
  options.gamma = 0.5;
  options.milestones = {10, 20, 30, 40};
  const Position position = {10, 20, 30, 40};
  std::vector<double> rates;
  for (const std::string& unit : schedule_unit_names()) {
    options.unit = schedule_unit(unit);
    rates.push_back(LearningRateSchedule(options).rate(position));
  }
  EXPECT_THAT(schedule_unit_names(), ElementsAre("update", "sample", "epoch", "progress"));
  EXPECT_THAT(rates, ElementsAre(0.25, 0.125, 0.0625, 0.03125));
}

TEST(LearningRateSchedule, MayBeAFunction) {
  const auto schedule = LearningRateSchedule::of(
      [](const Position& position) { return 0.5 / (1 + position.progress); });
  Position position;
  EXPECT_EQ(schedule.rate(position), 0.5);
  position.progress = 3;
  EXPECT_EQ(schedule.rate(position), 0.125);
  EXPECT_THAT([] { LearningRateSchedule::of(nullptr); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("expected a function")));
}

TEST(LearningRateSchedule, RefusesUnknownNames) {
  EXPECT_THAT([] { LearningRateSchedule schedule(named("cosinus")); },
              ThrowsMessage<std::invalid_argument>(
                  "unknown schedule 'cosinus'; valid names: constant, step, multistep, cosine, "
                  "polynomial"));
  EXPECT_THAT([] { schedule_unit("epochs"); },
              ThrowsMessage<std::invalid_argument>(
                  "unknown schedule unit 'epochs'; valid names: update, sample, epoch, progress"));
}

TEST(LearningRateSchedule, NamesTheValueAtFault) {
  const auto expect_refusal = [](const ScheduleOptions& options, const char* message) {
    EXPECT_THAT([&] { LearningRateSchedule schedule(options); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(message)));
  };
  ScheduleOptions options = named("constant");
  options.base_rate = std::numeric_limits<double>::quiet_NaN();
  expect_refusal(options, "learning rate is nan; expected a finite number, 0 or more");
  options.base_rate = -0.1;
  expect_refusal(options, "learning rate is -0.1");
  options = named("constant");
  options.warmup_span = -1;
  expect_refusal(options, "warm-up span is -1");
  options = named("constant");
  options.warmup_start = std::numeric_limits<double>::infinity();
  expect_refusal(options, "warm-up start is inf");
  options = named("constant");
  options.warmup_multiplier = 0;
  expect_refusal(options, "warm-up multiplier is 0; expected a finite number above 0");
  options = named("step");
  options.gamma = 0;
  expect_refusal(options, "gamma of schedule step is 0; expected a finite number above 0");
  options = named("step");
  options.step_size = 0;
  expect_refusal(options, "step size of schedule step is 0");
  options = named("multistep");
  expect_refusal(options, "schedule multistep has no milestones");
  options.milestones = {3, 3};
  expect_refusal(options, "milestone of schedule multistep is 3; expected milestones in ascending");
  options.milestones = {-1, 3};
  expect_refusal(options, "milestone of schedule multistep is -1");
  options = named("cosine");
  expect_refusal(options, "span of schedule cosine is 0");
  options.span = 1;
  options.end_rate = -1;
  expect_refusal(options, "end rate of schedule cosine is -1");
  options = named("polynomial");
  expect_refusal(options, "span of schedule polynomial is 0");
  options.span = 1;
  options.power = 0;
  expect_refusal(options, "power of schedule polynomial is 0; expected a finite number above 0");
}

TEST(LearningRateSchedule, IgnoresValuesOfOtherSchedules) {
  ScheduleOptions options = named("constant");
  options.gamma = -1;
  options.milestones = {2, 1};
  EXPECT_EQ(rate_at_epoch(options, 3), 0.5);
}

}  // namespace
}  // namespace rubato::optim
