#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "app/plan_report.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string table_of(std::size_t ranks, const std::vector<std::uint64_t>& rows,
                     data::EpochEnd epoch_end = data::EpochEnd::drop) {
  const data::TracePlan plan(data::BatchTrace::from_rows(rows),
                             {.samples = 100, .minibatch = 10, .epoch_end = epoch_end});
  std::ostringstream out;
  PlanTable table(out, {.samples = 100,
                        .minibatch = 10,
                        .minibatches_per_epoch = 10,
                        .epoch_samples = 100,
                        .ranks = ranks});
  walk(plan, data::Assignment::blocked, ranks, table);
  table.finish();
  return out.str();
}

TEST(PlanTable, PutsEqualStepsOnOneLine) {
  const auto text = table_of(2, {30, 30, 30, 10});
  EXPECT_THAT(text, HasSubstr("         0-2          30             3  2 1\n"));
  EXPECT_THAT(text, HasSubstr("           3          10             1  1 0\n"));
  EXPECT_THAT(text, HasSubstr("in all 4 updates, 100 samples\n"));
}

TEST(PlanTable, NamesMinibatchesWhereRowsHaveTheirOwn) {
  const data::TracePlan plan(data::BatchTrace::sparse({{0, 30, 10}, {2, 33, 7}}),
                             {.samples = 100, .minibatch = 10, .epochs = 1});
  std::ostringstream out;
  PlanTable table(out, {.samples = 100, .rows_have_minibatches = true, .ranks = 1});
  walk(plan, data::Assignment::blocked, 1, table);
  table.finish();
  EXPECT_THAT(out.str(), HasSubstr("100 samples, minibatches as the trace says, 1 rank\n\n"
                                   "epoch 0, from update 0\n"));
  EXPECT_THAT(out.str(), HasSubstr("         0-1          30             3  3  (of 10 samples)\n"));
  EXPECT_THAT(out.str(), HasSubstr("  5  (of 7 samples)  (last one: 5 samples)\n"));
  EXPECT_THAT(out.str(), HasSubstr("left over: 1 minibatch, 7 samples\n"));
}

TEST(PlanTable, SaysHowWellTheRanksAreBalanced) {
  // Two updates of 3 minibatches: 2 + 2 of the busiest rank, 6 / 2 evenly.
  EXPECT_THAT(table_of(2, {30, 30}),
              HasSubstr("load: 4 2 substeps of each rank; the busiest of each update: 4 in all, "
                        "3.0 if shared out evenly (75 %)\n"));
}

TEST(PlanTable, SummarisesManyRanks) {
  EXPECT_THAT(table_of(20, {30}), HasSubstr("  1 (ranks 0-2), 0 (ranks 3-19)\n"));
  EXPECT_THAT(table_of(13, {10}), HasSubstr("  1 (rank 0), 0 (ranks 1-12)\n"));
}

TEST(PlanTable, MarksShortMinibatchesAndCutUpdates) {
  const auto text = table_of(1, {95, 15, 20}, data::EpochEnd::carry);
  EXPECT_THAT(text, HasSubstr("(last one: 5 samples)  (goes on in the next epoch)\n"));
  EXPECT_THAT(text, HasSubstr("(begun in an earlier epoch)\n"));
  EXPECT_THAT(text, HasSubstr("in all 3 updates, 130 samples\n"));  // a cut update counts once
  EXPECT_THAT(table_of(1, {100}), Not(HasSubstr("last one")));
}

}  // namespace
}  // namespace rubato::app
