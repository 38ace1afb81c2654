// Advice from updates whose times follow a known law.
#include "runtime/batch_advisor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "optim/performance_model.hpp"

namespace rubato::runtime {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

optim::BatchLimits limits_of(std::uint64_t initial, std::uint64_t most,
                             std::optional<optim::LocalBounds> local = {}) {
  return {.initial_batch = initial, .max_batch_size = most, .local_bounds = local};
}

// On two ranks of one host: 1 ms and 10 us a sample, and 5 ms for the exchange.
constexpr optim::PerformanceParameters law{
    .substep_base = 1e-3, .substep_per_sample = 1e-5, .within_host_base = 5e-3, .overlap = 1};

data::PlannedUpdate update_of(const optim::Configuration& configuration) {
  data::PlannedUpdate update;
  update.batch_size = configuration.batch;
  update.minibatch = configuration.minibatch;
  update.minibatches.resize(optim::minibatches_of(configuration));
  for (auto& minibatch : update.minibatches) minibatch.size = configuration.minibatch;
  return update;
}

void run_updates(BatchAdvisor& advisor, const optim::Configuration& configuration, int count = 20,
                 double slowness_of_last = 1) {
  const double minibatches = static_cast<double>(configuration.substeps);
  const auto time =
      optim::predict(law, {1, 2, static_cast<double>(configuration.minibatch), minibatches});
  const double busy = time.substep_seconds * minibatches;
  const double slow = busy * slowness_of_last;
  const std::vector<RankTime> ranks{{busy, busy, minibatches}, {slow, slow, minibatches}};
  for (int i = 0; i < count; ++i) {
    advisor.observe(update_of(configuration), configuration, ranks,
                    time.update_seconds + slow - busy);
  }
}

TEST(BatchAdvisor, SaysNothingUntilSomethingWasMeasured) {
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  EXPECT_FALSE(advisor.advise({1, 1}, advisor.initial()));
  EXPECT_EQ(advisor.initial(), (optim::Configuration{32, 1, 64}));
}

// A noise scale far above all batches makes the throughput all that counts, and the largest batch
// the best; one far below makes every sample beyond the initial batch worthless.
TEST(BatchAdvisor, WeighsThroughputAgainstTheNoise) {
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  run_updates(advisor, advisor.initial());
  const auto noisy = advisor.advise({1e6, 1e-6}, advisor.initial());
  ASSERT_TRUE(noisy);
  EXPECT_EQ(noisy->choice.configuration.batch, 1024U);
  EXPECT_GT(noisy->choice.goodput, optim::hysteresis * noisy->current_goodput);
  const auto quiet = advisor.advise({1e-6, 1e6}, advisor.initial());
  EXPECT_EQ(quiet->choice.configuration, advisor.initial());
  EXPECT_EQ(quiet->choice.goodput, quiet->current_goodput);
}

TEST(BatchAdvisor, PredictsTheGoodputOfWhatItHasSeen) {
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  const optim::Configuration large{128, 2, 512};
  run_updates(advisor, advisor.initial());
  advisor.advise({1, 1}, advisor.initial());
  run_updates(advisor, large);
  const auto advice = advisor.advise({1e6, 1e-6}, large);
  ASSERT_TRUE(advice);
  const double seconds = optim::predict(law, {1, 2, 128, 2}).update_seconds;
  EXPECT_NEAR(advice->current_goodput, 512 / seconds, 0.02 * 512 / seconds);
}

// Half of a substep, it is guessed, does not depend on its size; in truth nearly all does.
TEST(BatchAdvisor, DoesNotLeaveABatchForWhatIsKnownToBringNothing) {
  const auto choice_where = [](const std::optional<double>& seconds_per_sample) {
    BatchAdvisor advisor(limits_of(64, 256), 1, 2, false);
    if (seconds_per_sample) advisor.know_seconds_per_sample(*seconds_per_sample);
    const std::vector<RankTime> ranks(2, {0.032, 0.032, 1});
    for (int i = 0; i < 20; ++i) {
      advisor.observe(update_of(advisor.initial()), advisor.initial(), ranks, 0.033);
    }
    return advisor.advise({1e6, 1e-6}, advisor.initial())->choice.configuration.batch;
  };
  EXPECT_EQ(choice_where({}), 256U);
  EXPECT_EQ(choice_where(1e-3), 64U);
  EXPECT_EQ(choice_where(1e-4), 256U);
}

TEST(BatchAdvisor, TriesASizeThatMayBeChosenBesideTheOneInUse) {
  using Sizes = std::pair<std::uint64_t, std::uint64_t>;
  const auto sizes = [](const optim::BatchLimits& limits, std::uint64_t in_use) {
    return BatchAdvisor(limits, 1, 2, false).sizes_to_try(in_use);
  };
  EXPECT_EQ(sizes(limits_of(64, 1024), 32), Sizes(32, 128));
  EXPECT_EQ(sizes(limits_of(64, 1024, optim::LocalBounds{8, 50}), 32), Sizes(32, 50));
  EXPECT_EQ(sizes(limits_of(64, 1024, optim::LocalBounds{20, 32}), 32), Sizes(20, 32));
  EXPECT_EQ(sizes(limits_of(64, 1024, optim::LocalBounds{4, 32}), 32), Sizes(8, 32));
  EXPECT_EQ(sizes(limits_of(64, 64), 32), Sizes(8, 32));
  EXPECT_EQ(sizes(limits_of(64, 1024, optim::LocalBounds{32, 32}), 32), std::nullopt);
  EXPECT_EQ(sizes(limits_of(64, 200), 150), Sizes(25, 100));  // the one in use on other ranks
  EXPECT_EQ(sizes({.initial_batch = 64, .max_batch_size = 1024, .fixed_minibatch = 16}, 16),
            std::nullopt);
}

TEST(BatchAdvisor, PassesOverUpdatesOfAnotherSize) {
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  const optim::Configuration other{32, 1, 40};
  const std::vector<RankTime> times{{1, 1, 1}, {1, 1, 1}};
  advisor.observe(update_of(other), advisor.initial(), times, 1);
  advisor.observe(update_of({16, 2, 64}), advisor.initial(), times, 1);
  EXPECT_FALSE(advisor.advise({1, 1}, advisor.initial()));
}

TEST(BatchAdvisor, PassesOverTimesThatAreNone) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  constexpr double forever = std::numeric_limits<double>::infinity();
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  for (const double substep : {nothing, forever, 1.0}) {
    for (const double seconds : {nothing, forever, 0.0, -1.0}) {
      const std::vector<RankTime> times{{1, 1, 1}, {substep, substep, 1}};
      advisor.observe(update_of(advisor.initial()), advisor.initial(), times, seconds);
      if (substep != 1) advisor.observe(update_of(advisor.initial()), advisor.initial(), times, 1);
    }
  }
  EXPECT_FALSE(advisor.advise({1, 1}, advisor.initial()));
  EXPECT_TRUE(advisor.profile().measurements().empty());
}

// A rank that takes three times as long makes two minibatches for each as long as six, unless they
// are shared by speed.
TEST(BatchAdvisor, KnowsThatASlowRankHoldsTheOthersUp) {
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  run_updates(advisor, advisor.initial(), 20, 3);
  advisor.advise({1, 1}, advisor.initial());
  const auto measured = advisor.profile().measurements();
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_NEAR(measured[0].work.substeps, 1.5, 1e-9);  // of the ranks' mean
  EXPECT_NEAR(measured[0].substep_seconds, 2 * (1e-3 + 32e-5), 1e-9);
}

TEST(BatchAdvisor, TakesRanksThatDifferByLittleForAlike) {
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  run_updates(advisor, advisor.initial(), 20, 1.1);
  EXPECT_EQ(advisor.settled_profile().measurements()[0].work.substeps, 1);
}

// One minibatch of twice the size, in twice the time: the ranks are still alike.
TEST(BatchAdvisor, ARankWithoutAMinibatchTellsNothing) {
  BatchAdvisor advisor(limits_of(64, 1024), 1, 2, false);
  run_updates(advisor, advisor.initial());
  advisor.advise({1, 1}, advisor.initial());
  const optim::Configuration whole{64, 1, 64};
  const double seconds = 2 * (1e-3 + 32e-5);
  const std::vector<RankTime> times{{seconds, seconds, 1}, {}};
  for (int i = 0; i < 5; ++i) advisor.observe(update_of(whole), whole, times, seconds);
  const auto measured = advisor.settled_profile().measurements();
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_DOUBLE_EQ(measured[1].substep_seconds, seconds);
  EXPECT_EQ(measured[1].work.substeps, 1);
}

TEST(BatchAdvisor, RefusesLimitsWithoutRoomAndSaysWhatWouldDo) {
  EXPECT_THAT(
      [] {
        BatchAdvisor(limits_of(100, 1000, optim::LocalBounds{100, 200}), 1, 11, false);
      },
      ThrowsMessage<std::invalid_argument>(
          StrEq("--adaptive: minibatches of at least 100 on 11 ranks make 1100 samples an "
                "update, above the maximum batch size, 1000; 10 ranks would do")));
  EXPECT_THAT(
      [] {
        BatchAdvisor(limits_of(10, 50, optim::LocalBounds{100, 200}), 1, 2, false);
      },
      ThrowsMessage<std::invalid_argument>(
          StrEq("--adaptive: minibatches of at least 100 on 2 ranks make 200 samples an "
                "update, above the maximum batch size, 50")));
  optim::BatchLimits whole = limits_of(400, 800, optim::LocalBounds{10, 100});
  whole.has_accumulation = false;
  const auto bounds = limits_of(100, 1000, optim::LocalBounds{100, 200});
  EXPECT_THAT([&] { initial_batch(bounds, 11, "elsewhere"); },
              ThrowsMessage<std::invalid_argument>(testing::StartsWith("elsewhere: minibatches")));
  EXPECT_THAT([&] { initial_batch(whole, 2); },
              ThrowsMessage<std::invalid_argument>(testing::EndsWith("; 4 ranks would do")));
}

TEST(BatchAdvisor, FindsTheMostRanksThatTheBoundsAllow) {
  const auto limits = limits_of(100, 1000, optim::LocalBounds{100, 200});
  EXPECT_EQ(most_ranks_within(limits, 11), 10U);
  EXPECT_EQ(most_ranks_within(limits, 10), 10U);
  EXPECT_EQ(most_ranks_within(limits, 3), 3U);
  EXPECT_EQ(most_ranks_within(limits_of(10, 50, optim::LocalBounds{100, 200}), 4), 0U);
  EXPECT_EQ(most_ranks_within(limits, 0), 0U);
  const optim::BatchLimits only_local{.initial_batch = 100,
                                      .local_bounds = optim::LocalBounds{100, 200}};
  EXPECT_EQ(most_ranks_within(only_local, 16), 16U);
  EXPECT_EQ(most_ranks_within(only_local, 16, 1438), 14U);
  EXPECT_EQ(most_ranks_within(limits, 16, 1438), 10U);
  EXPECT_EQ(most_ranks_within(limits, 16, 500), 5U);
}

TEST(BatchAdvisor, NoBatchIsLargerThanTheDataSet) {
  const auto most_of = [](const optim::BatchLimits& limits, std::size_t ranks) {
    return limits_within(limits, 1000, ranks).max_batch_size;
  };
  EXPECT_EQ(most_of(limits_of(64, 5000), 2), 1000U);
  EXPECT_EQ(most_of(limits_of(64, 300), 2), 300U);
  const optim::BatchLimits only_local{.initial_batch = 64,
                                      .local_bounds = optim::LocalBounds{4, 250}};
  EXPECT_EQ(most_of(only_local, 4), std::nullopt);
  EXPECT_EQ(most_of(only_local, 5), 1000U);
}

TEST(BatchAdvisor, NoMinibatchIsLargerThanTheLargest) {
  for (const std::size_t ranks : {1U, 2U, 3U, 7U}) {
    optim::BatchLimits fixed = limits_of(64, 1000);
    fixed.fixed_minibatch = 16;
    optim::BatchLimits only_local{.initial_batch = 64, .local_bounds = optim::LocalBounds{4, 40}};
    for (const auto& limits : {limits_of(64, 1000), limits_of(64, 1000, optim::LocalBounds{8, 96}),
                               limits_of(64, 70, optim::LocalBounds{2, 96}), fixed, only_local}) {
      for (const auto& candidate : optim::batch_candidates(limits, ranks)) {
        EXPECT_LE(candidate.minibatch, largest_minibatch(limits, ranks));
      }
    }
  }
}

}  // namespace
}  // namespace rubato::runtime
