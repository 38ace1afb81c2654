// The study's schedule against its own sequence of rates, in the two versions that there are, in
// every unit that counts alike; and where the plain one differs.
#include "optim/study_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace rubato::optim {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double epoch_updates = 391;  // of an epoch
constexpr double batch = 128;

ScheduleOptions study(PolynomialForm form, ScheduleUnit unit, double units_of_epoch) {
  ScheduleOptions options;
  options.name = "polynomial";
  options.unit = unit;
  options.base_rate = 0.05;
  options.end_rate = 1e-5;
  options.warmup_start = 1;
  options.warmup_multiplier = 2;
  options.warmup_span = 5 * units_of_epoch;
  options.span = 200 * units_of_epoch;
  options.polynomial_form = form;
  return with_epochs(options, epoch_updates * batch, batch, batch);
}

// With whole batches all units go along with each other.
Position at(double epoch, double update) {
  const double all = epoch * epoch_updates + update;
  return {.update = all,
          .sample = all * batch,
          .epoch = epoch + update / epoch_updates,
          .progress = all};
}

void expect_published(const std::string& column, PolynomialForm form) {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/optimizer_golden.json");
  const auto golden = nlohmann::json::parse(file)["seed_lr_schedule"];
  ASSERT_EQ(golden["config"]["iters_per_epoch"].get<double>(), epoch_updates);
  for (const auto& [unit, length] :
       {std::pair{ScheduleUnit::update, epoch_updates},
        std::pair{ScheduleUnit::sample, epoch_updates * batch}, std::pair{ScheduleUnit::epoch, 1.0},
        std::pair{ScheduleUnit::progress, epoch_updates}}) {
    const LearningRateSchedule schedule(study(form, unit, length));
    for (const auto& sample : golden["samples"][column]) {
      const Position position = at(sample["epoch"].get<double>(), sample["iter"].get<double>());
      const auto expected = sample["lr"].get<double>();
      EXPECT_NEAR(schedule.rate(position), expected, 1e-12 * expected) << sample;
    }
  }
}

TEST(StudySchedule, FollowsItsEarlierVersion) {
  expect_published("torch<=1.0", PolynomialForm::study);
}

TEST(StudySchedule, FollowsItsLaterVersion) {
  expect_published("torch>=1.1", PolynomialForm::study_ahead);
}

// From the base rate in a line to its multiple, then down, to the end rate at the end.
TEST(StudySchedule, ThePlainOneHasNoStepsAndArrives) {
  ScheduleOptions options = study(PolynomialForm::plain, ScheduleUnit::epoch, 1);
  options.span = 195;
  const LearningRateSchedule plain(options);
  EXPECT_EQ(plain.rate(at(0, 0)), 0.05);
  EXPECT_NEAR(plain.rate({.epoch = 2.5}), 0.075, 1e-15);
  EXPECT_NEAR(plain.rate(at(5, 0)), 0.1, 1e-15);
  EXPECT_NEAR(plain.rate({.epoch = 5 + 97.5}), 1e-5 + (0.1 - 1e-5) / 4, 1e-15);
  EXPECT_EQ(plain.rate(at(200, 0)), 1e-5);
  const LearningRateSchedule published(study(PolynomialForm::study, ScheduleUnit::epoch, 1));
  EXPECT_EQ(published.rate({.epoch = 2.5}), published.rate({.epoch = 2}));
  EXPECT_GT(published.rate(at(199, 390)), 9e-5);
}

TEST(StudySchedule, HoldsTheEndRateAfterItsSpan) {
  ScheduleOptions options = study(PolynomialForm::study, ScheduleUnit::epoch, 1);
  options.span = 10;
  const LearningRateSchedule schedule(options);
  EXPECT_GT(schedule.rate(at(15, 388)), 1e-5);
  EXPECT_EQ(schedule.rate(at(15, 390)), 1e-5);
  EXPECT_EQ(schedule.rate(at(100, 0)), 1e-5);
}

TEST(StudySchedule, IsKnownByName) {
  EXPECT_EQ(polynomial_form("plain"), PolynomialForm::plain);
  EXPECT_EQ(polynomial_form("study"), PolynomialForm::study);
  EXPECT_EQ(polynomial_form("study-ahead"), PolynomialForm::study_ahead);
  for (const std::string& name : polynomial_form_names()) EXPECT_NO_THROW(polynomial_form(name));
  EXPECT_THAT([] { polynomial_form("old"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("unknown form of the schedule")));
}

TEST(StudySchedule, LearnsWhatAnEpochIs) {
  ScheduleOptions options;
  options.unit = ScheduleUnit::progress;
  options = with_epochs(options, 1000, 300, 50);
  EXPECT_EQ(options.epoch_updates, 4);
  EXPECT_EQ(options.epoch_units, 20);
}

}  // namespace
}  // namespace rubato::optim
