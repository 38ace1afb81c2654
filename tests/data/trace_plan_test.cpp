// The plan against a simple twin that deals out samples one by one, and its ends.
#include "data/trace_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "data/errors.hpp"
#include "tests/data/all_updates.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

PlanOptions options_of(std::uint64_t samples, std::uint64_t minibatch) {
  PlanOptions options;
  options.samples = samples;
  options.minibatch = minibatch;
  return options;
}

// Carry.

// Deals the samples of the epochs one after the other to the rows, cutting a minibatch where it is
// full, an epoch or an update ends.
std::vector<std::vector<Minibatch>> dealt(const std::vector<std::uint64_t>& rows,
                                          std::uint64_t samples, std::uint64_t minibatch,
                                          std::uint64_t epochs) {
  std::vector<std::vector<Minibatch>> updates;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  std::uint64_t index = 0;
  for (const std::uint64_t row : rows) {
    std::vector<Minibatch> update;
    for (std::uint64_t i = 0; i < row && epoch < epochs; ++i) {
      const bool is_full = update.empty() || update.back().size == minibatch || position == 0;
      if (is_full) update.push_back({epoch, index++, position, 0});
      ++update.back().size;
      if (++position == samples) {
        ++epoch;
        position = 0;
        index = 0;
      }
    }
    if (!update.empty()) updates.push_back(update);
  }
  return updates;
}

TEST(TracePlanCarry, DealsOutEverySampleOfEveryEpochOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t samples = 1 + random() % 60;
    const std::uint64_t minibatch = 1 + random() % samples;
    const std::uint64_t epochs = 1 + random() % 5;
    std::vector<std::uint64_t> rows;
    for (std::uint64_t sum = 0; sum < epochs * samples; sum += rows.back()) {
      rows.push_back(1 + random() % (round % 2 == 0 ? 20 : 200));
    }
    PlanOptions options = options_of(samples, minibatch);
    options.epoch_end = EpochEnd::carry;
    options.epochs = epochs;
    const TracePlan plan(BatchTrace::from_rows(rows), options);
    const auto expected = dealt(rows, samples, minibatch, epochs);
    const auto updates = all_updates(plan);
    ASSERT_EQ(updates.size(), expected.size());
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < updates.size(); ++i) {
      ASSERT_EQ(updates[i].minibatches, expected[i]) << "round " << round << " update " << i;
      most = std::max<std::uint64_t>(most, expected[i].size());
      EXPECT_EQ(updates[i].ends_epoch, updates[i].end.epoch > updates[i].begin.epoch);
    }
    EXPECT_EQ(plan.total_updates(), expected.size());
    EXPECT_EQ(plan.total_samples(), samples * epochs);
    EXPECT_EQ(plan.most_minibatches(), most);
    EXPECT_EQ(updates.back().end.epoch, epochs);
    EXPECT_EQ(updates.back().end.position, 0U);
  }
}

TEST(TracePlanCarry, AnUpdateMayBeManyEpochsLong) {
  PlanOptions options = options_of(10, 4);
  options.epoch_end = EpochEnd::carry;
  const TracePlan plan(BatchTrace::from_rows({7, 25}), options);
  const auto updates = all_updates(plan);
  ASSERT_EQ(updates.size(), 2U);
  const std::vector<Minibatch> second = {{0, 2, 7, 3}, {1, 0, 0, 4}, {1, 1, 4, 4}, {1, 2, 8, 2},
                                         {2, 0, 0, 4}, {2, 1, 4, 4}, {2, 2, 8, 2}, {3, 0, 0, 2}};
  EXPECT_EQ(updates[1].minibatches, second);
  EXPECT_EQ(updates[1].end, (Cursor{2, 2, 3, 2, 1, 32}));
  EXPECT_TRUE(updates[1].ends_epoch);
  EXPECT_FALSE(updates[0].ends_epoch);
}

TEST(TracePlanCarry, ABoundHoldsWhereTheRunHasNoKnownEnd) {
  for (const std::uint64_t batch : {1U, 7U, 10U, 11U, 35U, 120U}) {
    PlanOptions options = options_of(10, 4);
    options.epoch_end = EpochEnd::carry;
    const TracePlan plan(BatchTrace::constant(batch), options);
    Cursor cursor;
    for (int i = 0; i < 50; ++i) {
      const auto update = plan.next(cursor);
      EXPECT_LE(update->minibatches.size(), plan.most_minibatches());
      cursor = update->end;
    }
  }
}

TEST(TracePlanCarry, ATraceTooShortNamesWhatIsMissing) {
  PlanOptions options = options_of(100, 8);
  options.epoch_end = EpochEnd::carry;
  options.epochs = 3;
  const BatchTrace trace = BatchTrace::from_csv_text("batchsize\n60\n# two\n50\n", "t.csv");
  EXPECT_EQ(
      thrown_message<ContentError>([&] { TracePlan(trace, options); }),
      "t.csv:4 (row 1): the trace ends here, in epoch 2 of 3; 190 samples more are to be used, "
      "about 4 rows like the last one; make the trace longer, or use --trace-end repeat-last or "
      "stop, or ask for fewer epochs");
}

// Drop.

TEST(TracePlanDrop, AShortMinibatchShiftsTheNextUpdate) {
  // 100 samples in minibatches of 8: an epoch gives 96.
  const TracePlan plan(BatchTrace::from_rows({20, 50, 26, 1}), options_of(100, 8));
  const auto updates = all_updates(plan);
  ASSERT_EQ(updates.size(), 4U);
  EXPECT_EQ(updates[0].minibatches,
            (std::vector<Minibatch>{{0, 0, 0, 8}, {0, 1, 8, 8}, {0, 2, 16, 4}}));
  EXPECT_EQ(updates[1].minibatches.front(), (Minibatch{0, 3, 20, 8}));
  EXPECT_EQ(updates[1].minibatches.back(), (Minibatch{0, 9, 68, 2}));
  EXPECT_EQ(updates[2].minibatches.back(), (Minibatch{0, 13, 94, 2}));
  EXPECT_TRUE(updates[2].ends_epoch);  // full to the last sample
  EXPECT_EQ(updates[3].begin, (Cursor{3, 3, 1, 0, 0, 96}));
  EXPECT_EQ(plan.most_minibatches(), 7U);
}

TEST(TracePlanDrop, TheCursorStandsAtTheNewEpochAsSoonAsTheNextRowDoesNotFit) {
  const TracePlan plan(BatchTrace::from_rows({60, 50, 30, 20, 1}), options_of(100, 10));
  const auto updates = all_updates(plan);
  EXPECT_TRUE(updates[0].ends_epoch);
  EXPECT_EQ(updates[0].end, (Cursor{1, 1, 1, 0, 0, 60}));
  EXPECT_FALSE(updates[1].ends_epoch);
  EXPECT_EQ(updates[3].begin, (Cursor{3, 3, 1, 80, 8, 140}));
}

TEST(TracePlanDrop, TheEpochEndsWithTheTrace) {
  const auto updates = all_updates(TracePlan(BatchTrace::from_rows({30, 30}), options_of(100, 10)));
  EXPECT_TRUE(updates[1].ends_epoch);
  EXPECT_EQ(updates[1].end, (Cursor{2, 2, 1, 0, 0, 60}));
}

TEST(TracePlanDrop, TheLastRowStandsForTheOneAfterTheTrace) {
  PlanOptions options = options_of(100, 10);
  options.epochs = 1;
  EXPECT_EQ(TracePlan(BatchTrace::from_rows({40, 40}), options).total_updates(), 2U);
  EXPECT_THROW(TracePlan(BatchTrace::from_rows({40, 30}), options), ContentError);  // 30 would fit
}

TEST(TracePlanDrop, RowsAfterTheLastEpochAreNotLookedAt) {
  PlanOptions options = options_of(100, 10);
  options.epochs = 1;
  const TracePlan plan(BatchTrace::from_rows({60, 101}), options);
  EXPECT_EQ(plan.total_updates(), 1U);
  options.epochs = 2;
  EXPECT_THROW(TracePlan(BatchTrace::from_rows({60, 101}), options), ContentError);
}

TEST(TracePlanDrop, ACompleteEpochIsNotCountedAsMissing) {
  PlanOptions options = options_of(1000, 32);
  options.epochs = 2;
  const BatchTrace trace = BatchTrace::from_rows(std::vector<std::uint64_t>(7, 128));  // 896 of 992
  EXPECT_THAT(thrown_message<ContentError>([&] { TracePlan(trace, options); }),
              HasSubstr("(row 6): the trace ends here, in epoch 2 of 2; 992 samples more"));
}

TEST(TracePlanDrop, ACursorOfAnotherTraceGoesOnWithTheNextEpoch) {
  const TracePlan plan(BatchTrace::constant(50), options_of(100, 10));
  const auto update = plan.next({5, 5, 2, 70, 7, 270});
  EXPECT_EQ(update->begin, (Cursor{5, 5, 3, 0, 0, 270}));
  EXPECT_EQ(update->minibatches.front(), (Minibatch{3, 0, 0, 10}));
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] {
              plan.next({1, 1, 0, 100, 0, 100});
            }),
            "plan: found a cursor at position 100, expected less than the 100 samples of an epoch");
}

// Ends.

TEST(TracePlanEnd, RepeatLastGoesOnWithTheLastRow) {
  PlanOptions options = options_of(100, 10);
  options.trace_end = TraceEnd::repeat_last;
  options.epochs = 3;
  const TracePlan plan(BatchTrace::from_rows({20, 40}), options);
  std::vector<std::uint64_t> sizes;
  for (const PlannedUpdate& update : all_updates(plan)) sizes.push_back(update.batch_size);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{20, 40, 40, 40, 40, 40, 40}));
}

TEST(TracePlanEnd, StopEndsWithTheTrace) {
  PlanOptions options = options_of(100, 10);
  options.trace_end = TraceEnd::stop;
  options.epochs = 3;
  EXPECT_EQ(TracePlan(BatchTrace::from_rows({20, 40}), options).total_updates(), 2U);
}

TEST(TracePlanEnd, UpdatesEndTheRunInMidEpoch) {
  PlanOptions options = options_of(100, 10);
  options.updates = 3;
  const auto updates = all_updates(TracePlan(BatchTrace::constant(20), options));
  ASSERT_EQ(updates.size(), 3U);
  EXPECT_FALSE(updates[2].ends_epoch);
  EXPECT_EQ(updates[2].end, (Cursor{3, 3, 0, 60, 6, 60}));
  EXPECT_EQ(
      thrown_message<ContentError>([&] { TracePlan(BatchTrace::from_rows({20}), options); }),
      "trace (row 0): the trace ends here, 2 updates before the end of the run; make the trace "
      "longer, or use --trace-end repeat-last or stop, or ask for fewer updates");
}

TEST(TracePlanEnd, WhicheverOfEpochsAndUpdatesComesFirst) {
  PlanOptions options = options_of(100, 10);
  options.updates = 7;
  options.epochs = 1;
  EXPECT_EQ(TracePlan(BatchTrace::constant(20), options).total_updates(), 5U);
  options.epochs = 2;
  EXPECT_EQ(TracePlan(BatchTrace::constant(20), options).total_updates(), 7U);
}

TEST(TracePlanEnd, AnEndlessPlanHasNoTotals) {
  const TracePlan plan(BatchTrace::constant(30), options_of(100, 10));
  EXPECT_FALSE(plan.total_updates());
  EXPECT_FALSE(plan.total_samples());
  Cursor cursor;
  for (int i = 0; i < 1000; ++i) cursor = plan.next(cursor)->end;
  EXPECT_EQ(cursor, (Cursor{1000, 1000, 333, 30, 3, 30000}));
  PlanOptions repeating = options_of(100, 10);
  repeating.trace_end = TraceEnd::repeat_last;
  EXPECT_FALSE(TracePlan(BatchTrace::from_rows({20, 40}), repeating).total_updates());
  EXPECT_THROW(TracePlan(BatchTrace::from_rows({20, 101}), repeating), ContentError);
  EXPECT_THAT(thrown_message<ContentError>(
                  [] { TracePlan(BatchTrace::constant(101), options_of(100, 10)); }),
              HasSubstr("--batch-size: found batch size 101, expected at most the 100"));
}

TEST(TracePlanEnd, RefusesOptionsThatMakeNoRun) {
  const auto refusal = [](PlanOptions options) {
    return thrown_message<std::invalid_argument>(
        [&] { TracePlan(BatchTrace::constant(1), options); });
  };
  EXPECT_EQ(refusal(options_of(0, 1)), "plan: the data set has no sample");
  EXPECT_EQ(refusal(options_of(5, 0)), "minibatch: found 0, expected a whole number of at least 1");
  PlanOptions options = options_of(5, 1);
  options.epochs = 0;
  EXPECT_EQ(refusal(options), "epochs: found 0, expected a whole number of at least 1");
  options.epochs = ~std::uint64_t{0};
  EXPECT_THAT(refusal(options), HasSubstr("with which the samples of a run exceed 64 bits"));
  options.epochs.reset();
  options.updates = 0;
  EXPECT_EQ(refusal(options), "updates: found 0, expected a whole number of at least 1");
}

TEST(TracePlan, Names) {
  for (const TraceEnd end : {TraceEnd::error, TraceEnd::repeat_last, TraceEnd::stop}) {
    EXPECT_EQ(trace_end(to_string(end)), end);
  }
  for (const EpochEnd end : {EpochEnd::drop, EpochEnd::carry, EpochEnd::cut}) {
    EXPECT_EQ(epoch_end(to_string(end)), end);
  }
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { trace_end("repeat"); }),
            "trace-end: found \"repeat\", expected error, repeat-last or stop");
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { epoch_end("wrap"); }),
            "epoch-end: found \"wrap\", expected drop, carry or cut");
}

}  // namespace
}  // namespace rubato::data
