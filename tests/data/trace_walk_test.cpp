// A sparse trace against the same one with a row for every update, and epochs that rows end.
#include "data/trace_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "data/errors.hpp"
#include "tests/data/all_updates.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

PlanOptions options_of(std::uint64_t samples, EpochEnd end, std::uint64_t epochs) {
  return {.samples = samples, .minibatch = 4, .epoch_end = end, .epochs = epochs};
}

void expect_same(const TracePlan& one, const TracePlan& other) {
  const auto left = all_updates(one);
  const auto right = all_updates(other);
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].begin, right[i].begin) << i;
    EXPECT_EQ(left[i].end, right[i].end) << i;
    EXPECT_EQ(left[i].batch_size, right[i].batch_size) << i;
    EXPECT_EQ(left[i].minibatch, right[i].minibatch) << i;
    EXPECT_EQ(left[i].minibatches, right[i].minibatches) << i;
    EXPECT_EQ(left[i].ends_epoch, right[i].ends_epoch) << i;
  }
}

TEST(TraceWalk, UnderCutTheUpdateThatReachesTheEndOfAnEpochIsShort) {
  const PlanOptions options{.samples = 10, .minibatch = 3, .epoch_end = EpochEnd::cut, .epochs = 2};
  const TracePlan plan(BatchTrace::constant(4), options);
  const auto updates = all_updates(plan);
  ASSERT_EQ(updates.size(), 6U);  // 4 + 4 + 2, twice
  EXPECT_EQ(updates[2].minibatches, (std::vector<Minibatch>{{0, 4, 8, 2}}));
  EXPECT_EQ(updates[2].batch_size, 2U);
  EXPECT_EQ(updates[2].end, (Cursor{3, 3, 1, 0, 0, 10}));
  EXPECT_EQ(updates[3].minibatches, (std::vector<Minibatch>{{1, 0, 0, 3}, {1, 1, 3, 1}}));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(updates[i].ends_epoch, i % 3 == 2) << i;
  EXPECT_EQ(plan.total_samples(), 20U);
  EXPECT_EQ(plan.epoch_samples(), 10U);
  EXPECT_TRUE(plan.passes(updates[4].end));
  const auto whole = TracePlan(BatchTrace::constant(25), options).next({});
  EXPECT_EQ(whole->batch_size, 10U);
  EXPECT_EQ(whole->end.epoch, 1U);
}

TEST(TraceWalk, ARowHoldsUntilTheNextOne) {
  std::mt19937 random(3);
  for (std::size_t round = 0; round < 200; ++round) {
    const auto end = std::array{EpochEnd::drop, EpochEnd::carry, EpochEnd::cut}[round % 3];
    const std::uint64_t samples = 20 + random() % 60;
    std::vector<TraceRow> rows;
    std::string dense = "batchsize,minibatch\n";
    for (std::uint64_t update = 0; update < 200;) {
      const TraceRow row{update, 1 + random() % 20, 1 + random() % 9};
      rows.push_back(row);
      const std::uint64_t length = 1 + random() % 9;
      for (std::uint64_t i = 0; i < length; ++i) {
        dense += std::to_string(row.batch_size) + "," + std::to_string(row.minibatch) + "\n";
      }
      update += length;
    }
    const PlanOptions options = options_of(samples, end, 1 + random() % 3);
    const TracePlan sparse(BatchTrace::sparse(rows), options);
    expect_same(sparse, TracePlan(BatchTrace::from_csv_text(dense, "dense"), options));
    EXPECT_LE(sparse.largest_minibatch(), 9U);
  }
}

// Recorded of one's own, the epochs change nothing.
TEST(TraceWalk, EpochsThatSamplesComeToAnywayChangeNothing) {
  for (const auto end : {EpochEnd::drop, EpochEnd::carry}) {
    std::vector<TraceRow> rows{{0, 7, 3}, {3, 9, 3}, {11, 5, 2}};
    const PlanOptions options = options_of(40, end, 4);
    const TracePlan silent(BatchTrace::sparse(rows), options);
    const auto updates = all_updates(silent);
    for (TraceRow& row : rows) row.epoch = updates[row.update].begin.epoch;
    expect_same(silent, TracePlan(BatchTrace::sparse(rows), options));
  }
}

// 40 samples: the second row would still fit, but begins the next epoch.
TEST(TraceWalk, ARowMayEndAnEpochEarly) {
  for (const auto end : {EpochEnd::drop, EpochEnd::carry}) {
    const std::vector<TraceRow> rows{{0, 10, 4, 0}, {2, 5, 4, 1}};
    const auto updates = all_updates(TracePlan(BatchTrace::sparse(rows), options_of(40, end, 2)));
    ASSERT_EQ(updates.size(), 10U);
    EXPECT_FALSE(updates[0].ends_epoch);
    EXPECT_TRUE(updates[1].ends_epoch);
    EXPECT_EQ(updates[1].end, (Cursor{2, 2, 1, 0, 0, 20}));
    EXPECT_EQ(updates[2].minibatches, (std::vector<Minibatch>{{1, 0, 0, 4}, {1, 1, 4, 1}}));
    EXPECT_TRUE(updates[9].ends_epoch);
  }
}

TEST(TraceWalk, RefusesARowInAnotherEpochThanItSays) {
  const auto refusal = [](EpochEnd end, std::uint64_t epoch) {
    const std::string text = "update,batchsize,epoch\n0,10,0\n5,10," + std::to_string(epoch) + "\n";
    return thrown_message<ContentError>(
        [&] { TracePlan(BatchTrace::from_csv_text(text, "t.csv"), options_of(40, end, 3)); });
  };
  for (const auto end : {EpochEnd::drop, EpochEnd::carry}) {
    EXPECT_EQ(refusal(end, 0),
              "t.csv:3 (row 1): found epoch 0, expected epoch 1, where update 5 begins; the trace "
              "is of other data, or was cut otherwise (--epoch-end)");
    EXPECT_THAT(refusal(end, 3), HasSubstr("found epoch 3, expected epoch 1 or the one after it"));
  }
}

// 40 samples: the second row begins where the second epoch does.
TEST(TraceWalk, ARowEndsNoEpochThatHasNotBegun) {
  for (const auto end : {EpochEnd::drop, EpochEnd::carry}) {
    const std::vector<TraceRow> rows{{0, 10, 4, 0}, {4, 10, 4, 2}};
    EXPECT_THAT(thrown_message<ContentError>(
                    [&] { TracePlan(BatchTrace::sparse(rows), options_of(40, end, 3)); }),
                HasSubstr("found epoch 2, expected epoch 1, where update 4 begins"));
  }
}

// Minibatches of their own: an epoch has all samples to give, which whole minibatches of one size
// cannot tell.
TEST(TraceWalk, AnEpochOfMixedMinibatchesHasAllSamples) {
  const std::vector<TraceRow> rows{{0, 20, 10}, {2, 43, 7}};
  const TracePlan plan(BatchTrace::sparse(rows), options_of(83, EpochEnd::drop, 2));
  EXPECT_EQ(plan.epoch_samples(), 83U);
  const auto updates = all_updates(plan);
  ASSERT_EQ(updates.size(), 4U);
  EXPECT_EQ(updates[2].minibatches.back(), (Minibatch{0, 10, 82, 1}));
  EXPECT_TRUE(updates[2].ends_epoch);
  EXPECT_EQ(updates[2].minibatch, 7U);

  const std::vector<TraceRow> whole{{0, 20, 4}};
  const TracePlan same(BatchTrace::constant(20), options_of(83, EpochEnd::drop, 3));
  expect_same(TracePlan(BatchTrace::sparse(whole), options_of(83, EpochEnd::drop, 3)), same);
}

// What memory is reserved by, in a run whose end is open too.
TEST(TraceWalk, NoUpdateHasMoreThanThePlanSays) {
  const std::vector<TraceRow> rows{{0, 8, 8}, {3, 90, 64}, {5, 101, 7}};
  for (const auto end : {EpochEnd::drop, EpochEnd::carry}) {
    const std::uint64_t samples = end == EpochEnd::drop ? 101 : 30;
    const TracePlan plan(BatchTrace::sparse(rows),
                         {.samples = samples, .minibatch = 20, .epoch_end = end});
    EXPECT_EQ(plan.largest_minibatch(), std::min<std::uint64_t>(64, samples));
    Cursor cursor;
    for (int i = 0; i < 50; ++i) {
      const auto update = plan.next(cursor);
      ASSERT_TRUE(update);
      EXPECT_LE(update->minibatches.size(), plan.most_minibatches());
      for (const Minibatch& one : update->minibatches) {
        EXPECT_LE(one.size, plan.largest_minibatch());
      }
      cursor = update->end;
    }
  }
}

TEST(TraceWalk, RefusesARowLargerThanAnEpoch) {
  EXPECT_EQ(thrown_message<ContentError>([] {
              TracePlan(
                  BatchTrace::from_csv_text("update,batchsize,minibatch\n0,8,8\n9,41,8\n", "t.csv"),
                  options_of(40, EpochEnd::drop, 9));
            }),
            "t.csv:3 (row 1): found batch size 41, expected at most the 40 samples of an epoch; "
            "use smaller batches, or --epoch-end carry");
}

// Of another plan's: 80 of 100 samples are used, and 20 left.
TEST(TraceWalk, SettlesACursorWhereItsNextRowFits) {
  const Cursor cursor{
      .update = 2, .row = 2, .epoch = 3, .position = 80, .minibatch = 8, .samples = 380};
  Cursor in_next_epoch = cursor;
  in_next_epoch.epoch = 4;
  in_next_epoch.position = in_next_epoch.minibatch = 0;
  const auto settled = [&](std::uint64_t batch, EpochEnd epoch_end) {
    return TracePlan(BatchTrace::constant(batch),
                     {.samples = 100, .minibatch = 10, .epoch_end = epoch_end, .updates = 9})
        .settled(cursor);
  };
  EXPECT_EQ(settled(20, EpochEnd::drop), cursor);
  EXPECT_EQ(settled(21, EpochEnd::drop), in_next_epoch);
  EXPECT_EQ(settled(21, EpochEnd::carry), cursor);
}

}  // namespace
}  // namespace rubato::data
