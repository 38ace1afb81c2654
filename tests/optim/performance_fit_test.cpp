// What the fit makes of measurements whose parameters are known, of too few, and of nonsense.
#include "optim/performance_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "performance_examples.hpp"

namespace rubato::optim {
namespace {

// The largest relative error of the two times that a profile holds.
double worst_error(const PerformanceParameters& found, const Profile& exact) {
  double worst = 0;
  for (const Measurement& each : exact) {
    const UpdateTime time = predict(found, each.work);
    worst = std::max({worst, std::abs(time.substep_seconds / each.substep_seconds - 1),
                      std::abs(time.update_seconds / each.update_seconds - 1)});
  }
  return worst;
}

bool is_sound(const PerformanceParameters& p) {
  const double least = smallest_seconds * (1 - 1e-9), most = 1.2e9;
  const auto is_time = [&](double seconds) { return seconds >= least && seconds <= most; };
  return is_time(p.substep_base) && is_time(p.substep_per_sample) &&
         is_time(p.between_hosts_base) && is_time(p.between_hosts_per_rank) &&
         is_time(p.within_host_base) && is_time(p.within_host_per_rank) && p.overlap >= 1 &&
         p.overlap <= 10;
}

TEST(PerformanceFit, NoiselessTimesComeBackWithinOnePerCent) {
  PerformanceExamples examples(3);
  for (int i = 0; i < 300; ++i) {
    const Profile profile = full_profile(examples.parameters());
    ASSERT_LT(worst_error(*fit(profile), profile), 0.01) << i;
  }
}

// Of other ranks and sizes than those measured, too.
TEST(PerformanceFit, NoiselessTimesForetellOthers) {
  PerformanceExamples examples(4);
  for (int i = 0; i < 300; ++i) {
    const PerformanceParameters truth = examples.parameters(3);
    const PerformanceParameters found = *fit(full_profile(truth));
    const Profile others = {measured(truth, {1, 3, 48, 4}), measured(truth, {3, 12, 256, 1}),
                            measured(truth, {6, 24, 20, 1})};
    ASSERT_LT(worst_error(found, others), 0.03) << i;
  }
}

// Both times of every point off by a random factor of so much.
Profile with_noise(Profile profile, double relative, PerformanceExamples& examples) {
  for (Measurement& each : profile) {
    each.substep_seconds *= std::exp(relative * examples.normal());
    each.update_seconds *= std::exp(relative * examples.normal());
  }
  return profile;
}

// Of twenty updates each.
TEST(PerformanceFit, FivePerCentOfNoiseInAnUpdateLeaveLessThanTenInAPrediction) {
  PerformanceExamples examples(5);
  for (int i = 0; i < 300; ++i) {
    const Profile exact = full_profile(examples.parameters());
    const Profile noisy = with_noise(exact, 0.05 / std::sqrt(20), examples);
    ASSERT_LT(worst_error(*fit(noisy), exact), 0.10) << i;
  }
}

// The worst of eighty predictions; a single one is off by less.
TEST(PerformanceFit, FivePerCentOfNoiseInTheMeansSeldomLeaveMoreThanTen) {
  PerformanceExamples examples(5);
  int beyond = 0;
  for (int i = 0; i < 300; ++i) {
    const Profile exact = full_profile(examples.parameters());
    const double error = worst_error(*fit(with_noise(exact, 0.05, examples)), exact);
    ASSERT_LT(error, 0.20) << i;
    if (error > 0.10) beyond += 1;
  }
  EXPECT_LE(beyond, 9);
}

TEST(PerformanceFit, OneHiccupDoesNotMoveTheOthers) {
  PerformanceExamples examples(6);
  for (int i = 0; i < 100; ++i) {
    const Profile exact = full_profile(examples.parameters(3));
    Profile profile = exact;
    profile[7].update_seconds *= 30;
    profile[7].observations = 1;
    ASSERT_LT(worst_error(*fit(profile), exact), 0.10) << i;
  }
}

TEST(PerformanceFit, TakesLessThanFiveMilliseconds) {
  PerformanceExamples examples(11);
  const Profile noisy = with_noise(full_profile(examples.parameters()), 0.05, examples);
  EXPECT_EQ(noisy.size(), 40u);
  EXPECT_LT(least_processor_seconds([&] { fit(noisy); }), 5e-3);
}

// Where the root of a mean square has no derivative.
TEST(PerformanceFit, OnePointIsMetAndHalved) {
  const Measurement only{{1, 1, 50, 1}, 0.2, 0.2, 1};
  const PerformanceParameters found = *fit(Profile{only});
  EXPECT_NEAR(found.substep_base, 0.1, 1e-3);
  EXPECT_NEAR(found.substep_per_sample, 0.1 / 50, 1e-5);
  EXPECT_EQ(found.overlap, 1);
  EXPECT_NEAR(found.within_host_base, smallest_seconds, 1e-15);
  EXPECT_NEAR(found.between_hosts_base, 1.1 * smallest_seconds, 1e-15);
  EXPECT_NEAR(predict(found, only.work).update_seconds, 0.2, 1e-3);
  const PerformanceParameters again = *fit(Profile(100, only));  // says the same
  EXPECT_NEAR(again.substep_base, found.substep_base, 1e-12);
  EXPECT_NEAR(again.substep_per_sample, found.substep_per_sample, 1e-12);
}

// What does not fit goes to the other half; of the logarithms, the update's counts 1 and the
// substep's 0.3.
TEST(PerformanceFit, OneSizeHalvesTheMeanSubstep) {
  const PerformanceParameters found = *fit(Profile{{{1, 1, 50, 1}, 0.2, 0.25, 1}});
  EXPECT_NEAR(found.substep_base, 0.1, 1e-12);
  EXPECT_NEAR(found.substep_per_sample * 50,
              std::exp((0.3 * std::log(0.2) + std::log(0.25)) / 1.3) - 0.1, 1e-3);
}

TEST(PerformanceFit, OneSizeGrowsAsItIsToldTo) {
  const Profile one{{{1, 1, 50, 1}, 0.2, 0.2, 1}};
  struct Case {
    double told, per_sample, base;
  };
  for (const auto& [told, per_sample, base] :
       {Case{3e-3, 3e-3, 0.05}, Case{0, 0, 0.2}, Case{1, 4e-3, 0}}) {  // no more than the whole
    const PerformanceParameters found = *fit(one, told);
    EXPECT_NEAR(found.substep_per_sample, per_sample, 1e-5) << told;
    EXPECT_NEAR(found.substep_base, base, 1e-3) << told;
  }
  const PerformanceParameters law{.substep_base = 0.1, .substep_per_sample = 2e-3};
  const Profile two{measured(law, {1, 1, 50, 1}), measured(law, {1, 1, 100, 1})};
  EXPECT_EQ(fit(two, 1), fit(two));  // what was measured is known better
}

// An update holds something else than substeps: its time is met where their number tells so.
TEST(PerformanceFit, UpdatesAreForetoldThoughTheirSubstepsTakeLongerInCompany) {
  Profile profile;
  for (const double minibatch : {16.0, 32.0, 64.0, 128.0}) {
    for (const double substeps : {1.0, 2.0, 4.0, 8.0}) {
      const double alone = 1e-3 + 1e-5 * minibatch;
      profile.push_back({{1, 2, minibatch, substeps}, alone, 1.3 * substeps * alone, 20});
    }
  }
  const PerformanceParameters found = *fit(profile);
  for (const Measurement& each : profile) {
    const double error = predict(found, each.work).update_seconds / each.update_seconds - 1;
    EXPECT_LT(std::abs(error), 0.12) << each.work.minibatch << " " << each.work.substeps;
  }
}

TEST(PerformanceFit, SubstepsNeedNotBeMeasured) {
  Profile profile;
  for (const double minibatch : {16.0, 64.0}) {
    profile.push_back({{1, 1, minibatch, 3}, 0, 3 * (0.01 + 0.001 * minibatch), 5});
  }
  const PerformanceParameters found = *fit(profile);
  EXPECT_NEAR(found.substep_base, 0.01, 1e-3);
  EXPECT_NEAR(found.substep_per_sample, 0.001, 1e-5);
}

// A timer's noise may make an update shorter than its substeps.
TEST(PerformanceFit, UpdateShorterThanItsSubstepsIsNoFailure) {
  const PerformanceParameters found = *fit(Profile{{{1, 2, 32, 2}, 0.1, 0.19, 4}});
  EXPECT_TRUE(is_sound(found));
  EXPECT_NEAR(predict(found, {1, 2, 32, 2}).update_seconds, 0.195, 0.01);
}

const PerformanceParameters truth = {0.01, 0.001, 0.08, 0.004, 0.02, 0.003, 1.5};

TEST(PerformanceFit, MeasurementsOfLittleRelevanceAreMetAsFarAsOthersLeaveOpen) {
  PerformanceParameters faster = truth;
  faster.substep_base /= 2;
  faster.substep_per_sample /= 2;
  faster.within_host_base /= 2;
  Profile profile;
  for (const double minibatch : {16.0, 64.0})
    profile.push_back(measured(truth, {1, 2, minibatch, 1}));
  const Profile relevant = profile;
  for (Measurement other : full_profile(faster)) {
    other.relevance = 1e-4;
    profile.push_back(other);
  }
  EXPECT_LT(worst_error(*fit(profile), relevant), 0.02);
  for (Measurement& each : profile) each.relevance = 1;
  EXPECT_GT(worst_error(*fit(profile), relevant), 0.3);
}

TEST(PerformanceFit, HostsNeverSeenAreTakenToBeSlower) {
  Profile profile;
  for (const double minibatch : {16.0, 64.0}) {
    for (const std::size_t ranks : {2u, 4u}) {
      profile.push_back(measured(truth, {1, ranks, minibatch, 1}));
    }
  }
  const PerformanceParameters found = *fit(profile);
  EXPECT_DOUBLE_EQ(found.between_hosts_base, 1.1 * found.within_host_base);
  EXPECT_DOUBLE_EQ(found.between_hosts_per_rank, 1.1 * found.within_host_per_rank);
  EXPECT_GT(found.within_host_base, 0.005);
}

TEST(PerformanceFit, MoreThanTwoRanksNeverSeenCostNoMore) {
  const PerformanceParameters found =
      *fit(Profile{measured(truth, {1, 2, 16, 1}), measured(truth, {1, 2, 64, 1}),
                   measured(truth, {2, 2, 16, 1})});
  EXPECT_NEAR(found.within_host_per_rank, smallest_seconds, 1e-15);
  EXPECT_LT(found.between_hosts_per_rank, 1.2 * smallest_seconds);
  EXPECT_GT(found.between_hosts_base, found.within_host_base);
}

TEST(PerformanceFit, MoreThanTwoRanksBetweenHostsAreTakenFromWithinOne) {
  Profile profile = {measured(truth, {2, 2, 16, 1}), measured(truth, {2, 2, 64, 1})};
  for (const std::size_t ranks : {2u, 4u}) profile.push_back(measured(truth, {1, ranks, 16, 1}));
  const PerformanceParameters found = *fit(profile);
  EXPECT_DOUBLE_EQ(found.between_hosts_per_rank, 1.1 * found.within_host_per_rank);
  EXPECT_GT(found.within_host_per_rank, 1e-3);
}

// Two updates cannot tell how much of the exchange is hidden, nor what of it is for further ranks.
TEST(PerformanceFit, WhatTheTimesLeaveOpenTendsToNoOverlapAndNoCostOfFurtherRanks) {
  for (const std::size_t hosts : {1u, 2u}) {
    const PerformanceParameters untold =
        *fit(Profile{{{hosts, 4, 16, 1}, 0, 0.1, 5}, {{hosts, 4, 64, 1}, 0, 0.17, 5}});
    EXPECT_LT(untold.overlap, 1.2);
    const PerformanceParameters told =
        *fit(Profile{{{hosts, 64, 16, 1}, 0.05, 0.1, 5}, {{hosts, 64, 64, 1}, 0.12, 0.17, 5}});
    EXPECT_GT(hosts == 1 ? told.within_host_base : told.between_hosts_base, 0.01);
  }
}

TEST(PerformanceFit, OneHostNeverSeenIsFree) {
  const PerformanceParameters found =
      *fit(Profile{measured(truth, {2, 4, 16, 1}), measured(truth, {2, 8, 64, 1})});
  EXPECT_NEAR(found.within_host_base, smallest_seconds, 1e-15);
  EXPECT_NEAR(found.within_host_per_rank, smallest_seconds, 1e-15);
}

TEST(PerformanceFit, NonsenseIsPassedOver) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Profile profile;
  for (const double seconds : {0.0, -1.0, nan, infinite, 1e-12, 1e300}) {
    profile.push_back({{1, 1, 32, 1}, 0.1, seconds, 3});
  }
  for (const double count : {0.0, -2.0, nan, infinite}) {
    profile.push_back({{1, 1, count, 1}, 0.1, 0.1, 3});
    profile.push_back({{1, 1, 32, count}, 0.1, 0.1, 3});
  }
  profile.push_back({{0, 1, 32, 1}, 0.1, 0.1, 3});
  profile.push_back({{2, 1, 32, 1}, 0.1, 0.1, 3});
  profile.push_back({{1, 1, 32, 1}, 0.1, 0.1, 0});
  for (const double relevance : {0.0, -1.0, nan, infinite}) {
    profile.push_back({{1, 1, 32, 1}, 0.1, 0.1, 3, relevance});
  }
  EXPECT_EQ(fit(profile), std::nullopt);
  EXPECT_EQ(fit({}), std::nullopt);
  const Profile good = full_profile(truth);
  const PerformanceParameters from_good = *fit(good);
  profile.insert(profile.end(), good.begin(), good.end());
  EXPECT_EQ(fit(profile), from_good);
}

// Anything: times over eighteen decades that fit no model.
TEST(PerformanceFit, WhateverIsMeasuredTheResultIsFiniteAndWithinBounds) {
  PerformanceExamples examples(7);
  for (int i = 0; i < 100000; ++i) {
    Profile profile(examples.whole(1, 3));
    for (Measurement& each : profile) {
      const std::size_t hosts = examples.whole(1, 3);
      each.work = {hosts, hosts * examples.whole(1, 4), static_cast<double>(examples.whole(1, 256)),
                   examples.coin() ? 1.0 : examples.between(0.1, 1000)};
      each.substep_seconds = examples.coin() ? examples.between(1e-9, 1e9) : 0;
      each.update_seconds = examples.between(1e-9, 1e9);
      each.observations = examples.whole(1, 1000);
    }
    const PerformanceParameters found = *fit(profile);
    ASSERT_TRUE(is_sound(found)) << i;
    const double seconds = predict(found, profile[0].work).update_seconds;
    ASSERT_TRUE(std::isfinite(seconds) && seconds > 0) << i;
  }
}

}  // namespace
}  // namespace rubato::optim
