#include "runtime/comparable_times.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::runtime {
namespace {

constexpr optim::PerformanceParameters true_law{
    .substep_base = 1e-3, .substep_per_sample = 1e-5, .within_host_base = 2e-3, .overlap = 1};

// An update of ranks that take so many times as long for a substep as the law says.
optim::Measurement measured(std::size_t ranks, double minibatch, double substeps, double slowness) {
  const optim::UpdateWork work{1, ranks, minibatch, substeps};
  const auto time = optim::predict(true_law, work);
  return {.work = work,
          .substep_seconds = slowness * time.substep_seconds,
          .update_seconds = time.update_seconds + (slowness - 1) * substeps * time.substep_seconds,
          .observations = 10};
}

std::vector<optim::Measurement> profile_with(double slowness_of_four) {
  std::vector<optim::Measurement> profile;
  for (const double minibatch : {16.0, 32.0, 64.0, 128.0}) {
    profile.push_back(measured(2, minibatch, 1, 1));
    profile.push_back(measured(2, minibatch, 2, 1));
    profile.push_back(measured(4, minibatch, 1, slowness_of_four));
  }
  return profile;
}

TEST(ComparableTimes, SlowRanksCountAsHavingHadMoreToDo) {
  const auto two = comparable_times(profile_with(2.5), 1, 2);
  ASSERT_EQ(two.size(), 12U);
  for (const auto& one : two) {
    EXPECT_NEAR(one.substep_seconds, 1e-3 + 1e-5 * one.work.minibatch, 1e-5);
    if (one.work.ranks == 4) {
      EXPECT_NEAR(one.work.substeps, 2.5, 0.02);
    }
  }
  for (const auto& one : comparable_times(profile_with(2.5), 1, 4)) {
    EXPECT_NEAR(one.substep_seconds, 2.5 * (1e-3 + 1e-5 * one.work.minibatch), 3e-5);
    if (one.work.ranks == 4) {
      EXPECT_NEAR(one.work.substeps, 1, 0.01);
    }
  }
}

// Updates that take longer than the model can say, as where a substep costs more the more there
// are: what is known of the ranks that matter is not bent to the model.
TEST(ComparableTimes, LeavesTheTimesOfTheRanksThatMatterAlone) {
  for (const double slowness : {1.0, 2.5}) {
    auto before = profile_with(slowness);
    for (auto& one : before) one.update_seconds *= 3;
    const auto after = comparable_times(before, 1, 2);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double expected = before[i].work.ranks == 2 ? 1 : slowness;
      EXPECT_NEAR(after[i].work.substeps / before[i].work.substeps, expected, 0.02);
      EXPECT_NEAR(before[i].substep_seconds / after[i].substep_seconds, expected, 0.02);
    }
  }
}

TEST(ComparableTimes, OthersCountLessWhereSomethingIsKnown) {
  for (const auto& one : comparable_times(profile_with(2.5), 1, 4)) {
    EXPECT_EQ(one.relevance, one.work.ranks == 4 ? 1 : 0.01);
  }
}

TEST(ComparableTimes, SubstepsThatWereNotMeasuredTellNothing) {
  auto profile = profile_with(2.5);
  for (int i = 0; i < 9; ++i) {
    profile.push_back(profile.back());
    profile.back().substep_seconds = 0;
  }
  EXPECT_NEAR(comparable_times(profile, 1, 2)[2].work.substeps, 2.5, 0.02);
}

TEST(ComparableTimes, LeavesRanksThatAreAlikeAlone) {
  const auto before = profile_with(1);
  const auto after = comparable_times(before, 1, 2);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(after[i].substep_seconds, before[i].substep_seconds, 1e-5);
    EXPECT_NEAR(after[i].work.substeps, before[i].work.substeps, 0.02);
    EXPECT_EQ(after[i].update_seconds, before[i].update_seconds);
  }
}

// On three ranks nothing was measured: two are what most is known of.
TEST(ComparableTimes, TakesTheRanksThatMostUpdatesRanOn) {
  const auto expected = comparable_times(profile_with(3), 1, 2);
  const auto found = comparable_times(profile_with(3), 1, 3);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].work, expected[i].work);
  }
}

// A prediction for four ranks that share two cores is of these ranks, not of a mean.
TEST(ComparableTimes, MakesPredictionsForCrowdedRanksRight) {
  const auto times = optim::fit(comparable_times(profile_with(2.5), 1, 4));
  ASSERT_TRUE(times);
  for (const auto& one : profile_with(2.5)) {
    if (one.work.ranks != 4) continue;
    const double predicted = optim::predict(*times, one.work).update_seconds;
    EXPECT_NEAR(predicted / one.update_seconds, 1, 0.05);
  }
  const auto without = optim::fit(profile_with(2.5));
  const auto crowded = measured(4, 128, 1, 2.5);
  EXPECT_GT(
      std::abs(optim::predict(*without, crowded.work).update_seconds / crowded.update_seconds - 1),
      0.1);
}

// Two ranks have had one size, four another: that those are slower shows where it is known how a
// substep grows.
TEST(ComparableTimes, TellsSlownessFromSizeWhereTheGrowthIsKnown) {
  const std::vector<optim::Measurement> profile{measured(2, 16, 1, 1), measured(4, 128, 1, 2.5)};
  EXPECT_NEAR(comparable_times(profile, 1, 2, 1e-5)[1].work.substeps, 2.5, 0.02);
  EXPECT_LT(comparable_times(profile, 1, 2)[1].work.substeps, 1.5);
}

TEST(ComparableTimes, ChangesNothingWhereNothingIsKnown) {
  EXPECT_TRUE(comparable_times({}, 1, 2).empty());
  const std::vector<optim::Measurement> nonsense{{.work = {1, 2, 8, 1}, .update_seconds = -1}};
  EXPECT_EQ(comparable_times(nonsense, 1, 2)[0].work, nonsense[0].work);
}

}  // namespace
}  // namespace rubato::runtime
