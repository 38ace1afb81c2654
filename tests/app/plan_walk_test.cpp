#include "app/plan_walk.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::app {
namespace {

// Notes down all that it is told.
class Notes final : public PlanVisitor {
 public:
  struct Step {
    std::uint64_t step;
    std::uint64_t batch_size;
    std::vector<std::uint64_t> sizes;
    std::vector<std::vector<std::uint64_t>> ranks;
    bool is_carried_from;
    bool carries_on;
    bool operator==(const Step&) const = default;
  };
  void begin_epoch(std::uint64_t epoch, std::uint64_t trace_begin) override {
    begins.emplace_back(epoch, trace_begin);
  }
  void visit(const PlanStep& step) override {
    std::vector<std::uint64_t> sizes;
    for (const auto& minibatch : step.minibatches) sizes.push_back(minibatch.size);
    steps.push_back(
        {step.step, step.batch_size, sizes, step.ranks, step.is_carried_from, step.carries_on});
  }
  void end_epoch(const EpochTotals& totals) override { epochs.push_back(totals); }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> begins;
  std::vector<Step> steps;
  std::vector<EpochTotals> epochs;
};

Notes notes_of(std::vector<std::uint64_t> rows, data::PlanOptions options) {
  Notes notes;
  const data::TracePlan plan(data::BatchTrace::from_rows(std::move(rows)), options);
  walk(plan, data::Assignment::strided, 2, notes);
  return notes;
}

TEST(PlanWalk, TellsEpochsAndStepsUnderDrop) {
  // 11 samples are 2 minibatches of 4: an epoch gives 8. The 5 of row 1 wait for the next one.
  const auto notes = notes_of({6, 5, 3, 8}, {.samples = 11, .minibatch = 4});
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(notes.begins, (std::vector<Pair>{{0, 0}, {1, 1}, {2, 3}}));
  EXPECT_EQ(notes.steps, (std::vector<Notes::Step>{{0, 6, {4, 2}, {{0}, {1}}, false, false},
                                                   {0, 5, {4, 1}, {{0}, {1}}, false, false},
                                                   {1, 3, {3}, {{2}, {}}, false, false},
                                                   {0, 8, {4, 4}, {{0}, {1}}, false, false}}));
  ASSERT_EQ(notes.epochs.size(), 3U);
  EXPECT_EQ(notes.epochs[0].samples_left_over, 5U);
  EXPECT_EQ(notes.epochs[0].minibatches_left_over, 0U);
  EXPECT_EQ(notes.epochs[1].steps, 2U);
  EXPECT_EQ(notes.epochs[1].minibatches_used, 3U);
  EXPECT_EQ(notes.epochs[1].samples_left_over, 3U);
  EXPECT_TRUE(notes.epochs[2].is_complete);
}

TEST(PlanWalk, CutsAnUpdateBetweenEpochsUnderCarry) {
  const auto notes =
      notes_of({13, 2}, {.samples = 5, .minibatch = 4, .epoch_end = data::EpochEnd::carry});
  // Strided over the whole update: slots 0, 2, 4 to rank 0; 1, 3 to rank 1.
  EXPECT_EQ(notes.steps, (std::vector<Notes::Step>{{0, 13, {4, 1}, {{0}, {1}}, false, true},
                                                   {0, 13, {4, 1}, {{0}, {1}}, true, true},
                                                   {0, 13, {3}, {{0}, {}}, true, false},
                                                   {1, 2, {2}, {{1}, {}}, false, false}}));
  ASSERT_EQ(notes.epochs.size(), 3U);
  for (const auto& totals : notes.epochs) {
    EXPECT_EQ(totals.samples_left_over, 0U);
    EXPECT_TRUE(totals.is_complete);
  }
  EXPECT_EQ(notes.epochs[2].trace_begin, 0U);
  EXPECT_EQ(notes.epochs[2].steps, 2U);
}

TEST(PlanWalk, KnowsWhenTheRunEndsWithinAnEpoch) {
  const auto dropped = notes_of({4}, {.samples = 12, .minibatch = 4});
  EXPECT_FALSE(dropped.epochs.at(0).is_complete);
  EXPECT_EQ(dropped.epochs.at(0).minibatches_left_over, 2U);
  const auto full = notes_of({8}, {.samples = 12, .minibatch = 4});  // another 8 would not fit
  EXPECT_TRUE(full.epochs.at(0).is_complete);
  const auto carried =
      notes_of({8}, {.samples = 12, .minibatch = 4, .epoch_end = data::EpochEnd::carry});
  EXPECT_FALSE(carried.epochs.at(0).is_complete);
}

}  // namespace
}  // namespace rubato::app
