// What is in the rows, study_markdown_test shows.
#include "app/study_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study_courses.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;
using State = CellState;

TEST(StudyTable, IsOneForEachGroupWithARowForEachBatch) {
  const auto results = results_of(
      "s", {made_cell("sgd", "32", "1"), made_cell("sgd", "32", "2"), made_cell("lars", "64", "1")},
      {made_course(State::finished, {0.5}), made_course(State::finished, {0.25}),
       made_course(State::diverged, {})});
  EXPECT_THAT(groups_of(results), ElementsAre("optimizer=sgd", "optimizer=lars"));
  const auto tables = tables_of(results);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].group, "optimizer=sgd");
  EXPECT_EQ(tables[0].heading[0], "Batch");
  ASSERT_EQ(tables[0].rows.size(), 1U);
  EXPECT_THAT(tables[0].rows[0].cells, ElementsAre("32", "0.1", "37.50 % (25.00 to 50.00)",
                                                   "37.50 % (25.00 to 50.00)", "10.0 s", "10.0 s"));
  EXPECT_TRUE(tables[0].rows[0].is_baseline);
  EXPECT_THAT(tables[1].rows[0].cells, ElementsAre("64", "0.1", "(nan)", "(nan)", "-", "-"));
  EXPECT_FALSE(tables[1].rows[0].is_baseline);
  EXPECT_EQ(baseline_sentence(results), "Base line: 37.50 %, the best of optimizer=sgd, batch 32.");
}

TEST(StudyTable, MayBeEmptyOrOfTraces) {
  EXPECT_TRUE(tables_of({}).empty());
  EXPECT_EQ(baseline_sentence({}), "");
  EXPECT_FALSE(is_of_traces({}));
  auto cell = made_cell("sgd", "ramp", "1");
  cell.options = {{"trace", "a/ramp.csv"}};
  EXPECT_TRUE(is_of_traces(results_of("s", {cell}, {made_course(State::finished, {0.5})})));
}

}  // namespace
}  // namespace rubato::app
