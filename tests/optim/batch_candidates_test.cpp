// Candidates against the reference vectors, within random bounds, and the sentences for bounds
// between which there is no room.
#include "optim/batch_candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "performance_examples.hpp"

namespace rubato::optim {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::ThrowsMessage;

TEST(BatchCandidates, AreTheReferenceVectorsWhereThoseAreWithinTheMaximum) {
  int compared = 0;
  const json golden = goodput_vectors();
  for (const json& search : golden["optimize"]) {
    if (search["name"] == "r1_noaccum") continue;  // does not adapt on one rank
    SCOPED_TRACE(search["name"].get<std::string>());
    const std::uint64_t ranks = search["replicas"], maximum = search["max_batch"];
    const auto candidates = batch_candidates(reference_limits(search), ranks);
    for (const char* part : {"candidates_head", "candidates_tail"}) {
      for (const json& each : search[part]) {
        const Configuration expected{each["atomic"], each["accum"].get<std::uint64_t>() + 1,
                                     each["total"]};
        if (expected.batch > maximum) {
          EXPECT_THAT(candidates, Not(Contains(expected)));
        } else {
          EXPECT_THAT(candidates, Contains(expected));
          compared += 1;
        }
      }
    }
    EXPECT_EQ(candidates.front().batch, search["candidates_head"][0]["total"]);
  }
  EXPECT_EQ(compared, 29);
}

TEST(BatchCandidates, RoundingStaysBelowTheMaximum) {
  BatchLimits limits{.initial_batch = 100, .max_batch_size = 1000};
  const auto candidates = batch_candidates(limits, 3);
  EXPECT_EQ(candidates.back(), (Configuration{333, 1, 999}));
}

BatchLimits random_limits(PerformanceExamples& examples) {
  BatchLimits limits;
  limits.initial_batch = static_cast<std::uint64_t>(examples.between(1, 2000));
  const bool has_maximum = examples.coin();
  if (has_maximum) limits.max_batch_size = static_cast<std::uint64_t>(examples.between(1, 1e5));
  if (!has_maximum || examples.coin()) {
    const auto lower = static_cast<std::uint64_t>(examples.between(1, 200));
    limits.local_bounds = LocalBounds{lower, lower + examples.whole(0, 500)};
  }
  if (examples.coin())
    limits.fixed_minibatch = static_cast<std::uint64_t>(examples.between(1, 300));
  limits.has_accumulation = examples.coin();
  limits.may_go_below_initial = examples.coin();
  limits.may_be_single_at_initial = examples.coin();
  return limits;
}

// Written again, without the code under test.
void expect_within(const BatchLimits& limits, std::uint64_t ranks, const Configuration& each) {
  const auto [minibatch, substeps, batch] = each;
  const std::uint64_t cut = (batch + minibatch - 1) / minibatch;
  EXPECT_GE(minibatch, 1u);
  EXPECT_EQ(substeps, (cut + ranks - 1) / ranks);
  EXPECT_EQ(minibatches_of(each), cut);
  if (limits.max_batch_size) {
    EXPECT_LE(batch, *limits.max_batch_size);
  }
  if (limits.local_bounds) {
    EXPECT_GE(minibatch, limits.local_bounds->lower);
    EXPECT_LE(minibatch, limits.local_bounds->upper);
    EXPECT_GE(batch, ranks * limits.local_bounds->lower);
  }
  if (!limits.max_batch_size) {
    const std::uint64_t of_ranks = ranks * limits.local_bounds->upper;
    EXPECT_LE(batch, std::max(of_ranks, limits.has_accumulation ? limits.initial_batch : 0));
  }
  if (limits.fixed_minibatch) {
    EXPECT_EQ(minibatch, *limits.fixed_minibatch);
    EXPECT_EQ(batch % minibatch, 0u);
  }
  if (!limits.has_accumulation) {
    EXPECT_EQ(substeps, 1u);
  }
  if (!limits.may_go_below_initial) {
    EXPECT_GE(batch, limits.initial_batch);
  }
  EXPECT_TRUE(is_within(limits, ranks, each));
}

TEST(BatchCandidates, AreWithinWhateverBounds) {
  PerformanceExamples examples(8);
  int possible = 0;
  for (int i = 0; i < 20000; ++i) {
    SCOPED_TRACE(i);
    const BatchLimits limits = random_limits(examples);
    const std::uint64_t ranks = examples.whole(1, 40);
    std::vector<Configuration> candidates;
    try {
      candidates = batch_candidates(limits, ranks);
    } catch (const std::invalid_argument&) {
      continue;
    }
    possible += 1;
    ASSERT_FALSE(candidates.empty());
    for (const Configuration& each : candidates) expect_within(limits, ranks, each);
    EXPECT_TRUE(std::ranges::is_sorted(candidates, {}, &Configuration::batch));
    EXPECT_TRUE(std::ranges::adjacent_find(candidates) == candidates.end());
    if (HasFailure()) break;
  }
  EXPECT_GT(possible, 4000);
}

TEST(BatchCandidates, EqualSharesForAllRanksWhereTheMinibatchMayChange) {
  for (const Configuration& each :
       batch_candidates({.initial_batch = 64, .max_batch_size = 5000}, 7)) {
    EXPECT_EQ(each.batch, 7 * each.minibatch * each.substeps);
  }
}

// 50 is no multiple of 7, and there is nothing else.
TEST(BatchCandidates, LastMinibatchIsShortWhereNoEqualShareIsWithinTheLimits) {
  EXPECT_THAT(batch_candidates({.initial_batch = 50, .max_batch_size = 50}, 7),
              ElementsAre(Configuration{8, 1, 50}));
}

// 49 steps from 4 to 4 * 3^7: every seventh is three times as much, of exponentials slightly more.
TEST(BatchCandidates, ComeOutToTheSampleThoughRatiosAreRounded) {
  const auto candidates = batch_candidates({.initial_batch = 4, .max_batch_size = 8748}, 4);
  for (std::uint64_t minibatch = 1; minibatch <= 2187; minibatch *= 3) {
    EXPECT_THAT(candidates, Contains(Configuration{minibatch, 1, 4 * minibatch}));
  }
}

TEST(BatchCandidates, FixedMinibatchesAreWholeAndFewOnesAllTried) {
  const BatchLimits limits{.initial_batch = 64, .max_batch_size = 330, .fixed_minibatch = 32};
  std::vector<std::uint64_t> batches;
  for (const Configuration& each : batch_candidates(limits, 4)) batches.push_back(each.batch);
  EXPECT_THAT(batches, ElementsAre(64, 96, 128, 160, 192, 224, 256, 288, 320));
}

TEST(BatchCandidates, ManyFixedMinibatchesAreTriedWhereNoRankWaits) {
  const BatchLimits limits{.initial_batch = 32, .max_batch_size = 32000, .fixed_minibatch = 32};
  const auto candidates = batch_candidates(limits, 12);
  EXPECT_LE(candidates.size(), 150u);
  const auto is_even = [](const Configuration& each) { return minibatches_of(each) % 12 == 0; };
  EXPECT_GE(std::ranges::count_if(candidates, is_even), 25);
}

TEST(BatchCandidates, OneRankTakesTwoMinibatchesSoThatItsNoiseCanBeMeasured) {
  BatchLimits limits{.initial_batch = 128, .max_batch_size = 4096};
  for (const Configuration& each : batch_candidates(limits, 1)) EXPECT_GE(minibatches_of(each), 2u);
  limits.may_be_single_at_initial = true;
  EXPECT_EQ(batch_candidates(limits, 1).front(), (Configuration{128, 1, 128}));
  EXPECT_EQ(batch_candidates(limits, 1)[1].substeps, 2u);
  limits = {.initial_batch = 32, .max_batch_size = 320, .fixed_minibatch = 32};
  EXPECT_EQ(batch_candidates(limits, 1).front().batch, 64u);
  limits.may_be_single_at_initial = true;
  EXPECT_EQ(batch_candidates(limits, 1).front().batch, 32u);
}

// Two of at least 100 would be above the maximum: one is better than none.
TEST(BatchCandidates, OneRankTakesOneMinibatchWhereTwoAreNotWithinTheBounds) {
  const BatchLimits limits{
      .initial_batch = 100, .max_batch_size = 150, .local_bounds = LocalBounds{100, 150}};
  const auto candidates = batch_candidates(limits, 1);
  EXPECT_EQ(candidates.front(), (Configuration{100, 1, 100}));
  EXPECT_EQ(candidates.back(), (Configuration{150, 1, 150}));
}

TEST(BatchCandidates, BeginAtTheInitialBatchOrBelowIfAsked) {
  BatchLimits limits{.initial_batch = 100, .max_batch_size = 1000};
  EXPECT_EQ(batch_candidates(limits, 3).front(), (Configuration{34, 1, 102}));
  limits.may_go_below_initial = true;
  EXPECT_EQ(batch_candidates(limits, 3).front(), (Configuration{1, 1, 3}));
  EXPECT_EQ(initial_configuration(limits, 3), (Configuration{34, 1, 102}));
}

// Bounds are of a rank's minibatch, the initial batch is of all ranks.
TEST(BatchCandidates, LocalBoundsNeedNotEncloseTheInitialBatch) {
  BatchLimits limits{
      .initial_batch = 128, .max_batch_size = 512, .local_bounds = LocalBounds{10, 16}};
  EXPECT_EQ(initial_configuration(limits, 4), (Configuration{16, 2, 128}));
  limits.local_bounds = LocalBounds{100, 200};
  limits.initial_batch = 50;
  EXPECT_EQ(initial_configuration(limits, 4), (Configuration{100, 1, 400}));
}

TEST(BatchCandidates, LargestNumbersDoNotOverflow) {
  constexpr std::uint64_t upper = 1'000'000'000, ranks = 1u << 28;
  const BatchLimits limits{.local_bounds = LocalBounds{1, upper}, .fixed_minibatch = 1};
  EXPECT_EQ(batch_candidates(limits, ranks).back().batch, upper * ranks);
}

TEST(BatchCandidates, LimitsSayWhatIsWithinThem) {
  BatchLimits limits{.initial_batch = 10, .max_batch_size = 100};
  EXPECT_TRUE(is_within(limits, 2, {50, 1, 100}));
  EXPECT_TRUE(is_within(limits, 2, {25, 2, 100}));
  EXPECT_FALSE(is_within(limits, 2, {100, 1, 100}));  // the second rank would have none
  EXPECT_FALSE(is_within(limits, 2, {0, 1, 100}));
  limits.has_accumulation = false;
  EXPECT_FALSE(is_within(limits, 2, {25, 2, 100}));
}

void expect_refused(const BatchLimits& limits, std::size_t ranks, const std::string& sentence) {
  EXPECT_THAT([&] { batch_candidates(limits, ranks); },
              ThrowsMessage<std::invalid_argument>(sentence));
}

TEST(BatchCandidates, BoundsWithoutRoomAreRefusedInOneSentence) {
  expect_refused(
      {.initial_batch = 100, .max_batch_size = 1000, .local_bounds = LocalBounds{100, 200}}, 11,
      "minibatches of at least 100 on 11 ranks make 1100 samples an update, above the maximum "
      "batch size, 1000");
  EXPECT_NO_THROW(batch_candidates(
      {.initial_batch = 100, .max_batch_size = 1000, .local_bounds = LocalBounds{100, 200}}, 10));
  expect_refused({.initial_batch = 100, .max_batch_size = 50}, 1,
                 "maximum batch size 50 is below the initial batch, 100");
  expect_refused({.initial_batch = 512,
                  .max_batch_size = 4096,
                  .local_bounds = LocalBounds{32, 256},
                  .has_accumulation = false},
                 1,
                 "minibatches of at most 256 on 1 rank make at most 256 samples an update without "
                 "accumulation, below the initial batch, 512");
  expect_refused(
      {.initial_batch = 128, .local_bounds = LocalBounds{8, 16}, .has_accumulation = false}, 4,
      "minibatches of at most 16 on 4 ranks make at most 64 samples an update without "
      "accumulation, below the initial batch, 128");
  expect_refused({.initial_batch = 100, .max_batch_size = 100, .fixed_minibatch = 32}, 2,
                 "no whole number of minibatches of 32 lies between 100 and 100 samples");
}

TEST(BatchCandidates, LimitsThatMakeNoSenseAreRefused) {
  expect_refused({.initial_batch = 10}, 1,
                 "neither a maximum batch size nor local bounds; expected one of them or both");
  expect_refused({.initial_batch = 10, .local_bounds = LocalBounds{9, 8}}, 1,
                 "lower local bound 9 is above the upper one, 8");
  expect_refused({.initial_batch = 10, .local_bounds = LocalBounds{8, 16}, .fixed_minibatch = 32},
                 1, "minibatch is 32; expected one within the local bounds, 8 to 16");
  expect_refused({.initial_batch = 0, .max_batch_size = 10}, 1,
                 "initial batch is 0; expected 1 to 1e9");
  expect_refused({.initial_batch = 1, .max_batch_size = 10}, 0,
                 "number of ranks is 0; expected 1 to 1e9");
}

}  // namespace
}  // namespace rubato::optim
