#include "app/run_curve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "runtime/metrics_file.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

class Curve : public testing::Test {
 protected:
  // Update u of half a second and 10 samples has the loss u; every fifth is followed by an
  // evaluation.
  void write(std::uint64_t updates) const {
    runtime::MetricsFile metrics(directory.path() / "metrics.jsonl");
    runtime::RunFacts facts;
    facts.context = {{"version", "1"}, {"configuration", "lr = 1\n"}};
    facts.ranks = 2;
    metrics.begin(facts);
    for (std::uint64_t update = 1; update <= updates; ++update) {
      runtime::StepReport report;
      report.update = update;
      report.batch_size = 10;
      report.samples = 10 * update;
      report.learning_rate = 0.5;
      report.gain = 1.5;
      report.scaled_updates = 1.5 * static_cast<double>(update);
      report.loss = static_cast<double>(update);
      report.noise_scale = 64;
      report.seconds = 0.5;
      metrics.update(report);
      if (update % 5 > 0) continue;
      metrics.evaluation({.update = update, .loss = 0.25, .accuracy = 0.75, .seconds = 9});
    }
    metrics.end({});
  }

  TemporaryDirectory directory;
};

TEST_F(Curve, IsWhatTheRunWrote) {
  write(6);
  const auto curve = curve_of(directory.path());
  ASSERT_EQ(curve.updates.size(), 6U);
  const auto& last = curve.updates[5];
  EXPECT_EQ(last.at.samples, 60);
  EXPECT_EQ(last.at.progress, 9);
  EXPECT_EQ(last.at.seconds, 3) << "without the evaluation's";
  EXPECT_EQ(last.loss, 6);
  EXPECT_EQ(last.batch, 10);
  EXPECT_EQ(last.rate, 0.5);
  EXPECT_EQ(last.gain, 1.5);
  EXPECT_EQ(last.noise_scale, 64);
  ASSERT_EQ(curve.evaluations.size(), 1U);
  EXPECT_EQ(curve.evaluations[0].at.samples, 50);
  EXPECT_EQ(curve.evaluations[0].at.progress, 7.5);
  EXPECT_EQ(curve.evaluations[0].at.seconds, 2.5);
  EXPECT_EQ(curve.evaluations[0].loss, 0.25);
  EXPECT_EQ(curve.evaluations[0].accuracy, 0.75);
  EXPECT_THAT(curve.facts, testing::Contains(RunFact{"version", "1"}));
  EXPECT_THAT(curve.facts, testing::Contains(RunFact{"ranks", "2"}));
  for (const auto& fact : curve.facts) EXPECT_NE(fact.name, "configuration");
}

TEST_F(Curve, HasFewPointsOfManyUpdatesAndTheLast) {
  write(23);
  const auto curve = curve_of(directory.path(), 4);
  ASSERT_EQ(curve.updates.size(), 4U);  // of 6, 6, 6 and 5 updates
  EXPECT_EQ(curve.updates[0].at.samples, 60);
  EXPECT_EQ(curve.updates[0].loss, 3.5);
  EXPECT_EQ(curve.updates[3].at.samples, 230);
  EXPECT_EQ(curve.updates[3].loss, 21);
  EXPECT_EQ(curve.evaluations.size(), 4U);
  EXPECT_EQ(curve_of(directory.path(), 3).evaluations.size(), 2U);
  EXPECT_EQ(curve_of(directory.path(), 3).evaluations[1].at.samples, 200);
}

TEST_F(Curve, LeavesWhatIsNotFiniteOutOfTheMeanLoss) {
  directory.write("metrics.jsonl",
                  "{\"type\":\"update\",\"samples\":1,\"loss\":4.0}\n"
                  "{\"type\":\"update\",\"samples\":2,\"loss\":null}\n"
                  "{\"type\":\"update\",\"samples\":3,\"loss\":null}\n"
                  "{\"type\":\"update\",\"samples\":4,\"loss\":null}\n");
  const auto curve = curve_of(directory.path(), 2);
  EXPECT_EQ(curve.updates[0].loss, 4);
  EXPECT_TRUE(std::isnan(curve.updates[1].loss));
}

TEST_F(Curve, IsEmptyWithoutARun) {
  EXPECT_TRUE(curve_of(directory.path()).updates.empty());
  EXPECT_TRUE(mean_of({}).updates.empty());
}

TEST_F(Curve, HasAMeanUpToTheFirstEnd) {
  const RunCurve one{.updates = {{.at = {10, 1, 2}, .loss = 4, .batch = 8, .rate = 1, .gain = 1},
                                 {.at = {20, 2, 4}, .loss = 2}},
                     .evaluations = {{.at = {20, 2, 4}, .loss = 1, .accuracy = 0.5}}};
  const RunCurve other{.updates = {{.at = {10, 2, 4}, .loss = 2, .batch = 8, .rate = 3, .gain = 2}},
                       .evaluations = {{.at = {20, 2, 8}, .loss = 3, .accuracy = 0.25}}};
  const auto mean = mean_of({&one, &other});
  ASSERT_EQ(mean.updates.size(), 1U);
  EXPECT_EQ(mean.updates[0].at.samples, 10);
  EXPECT_EQ(mean.updates[0].at.progress, 1.5);
  EXPECT_EQ(mean.updates[0].at.seconds, 3);
  EXPECT_EQ(mean.updates[0].loss, 3);
  EXPECT_EQ(mean.updates[0].batch, 8);
  EXPECT_EQ(mean.updates[0].rate, 2);
  EXPECT_EQ(mean.updates[0].gain, 1.5);
  EXPECT_EQ(mean.evaluations[0].at.seconds, 6);
  EXPECT_EQ(mean.evaluations[0].loss, 2);
  EXPECT_EQ(mean.evaluations[0].accuracy, 0.375);
}

}  // namespace
}  // namespace rubato::app
