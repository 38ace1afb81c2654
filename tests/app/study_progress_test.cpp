#include "app/study_progress.hpp"

#include <gtest/gtest.h>

#include "study_courses.hpp"

namespace rubato::app {
namespace {

using State = CellState;

const std::vector<StudyCell> some_cells{made_cell("sgd", "32", "1"), made_cell("sgd", "32", "2"),
                                        made_cell("lars", "32", "1"), made_cell("lars", "64", "1")};
const CellCourse absent;

// A cell of n evaluations takes 11 n seconds, and one to begin.
CellCourse finished(std::size_t evaluations) {
  return made_course(State::finished, std::vector<double>(evaluations, 0.5));
}

TEST(StudyProgress, KnowsNothingBeforeACellHasFinished) {
  const std::vector<CellCourse> courses{made_course(State::diverged, {0.5}), absent, absent,
                                        absent};
  EXPECT_FALSE(predicted_seconds(some_cells[1], some_cells, courses));
  EXPECT_FALSE(predicted_rest(some_cells, courses));
}

TEST(StudyProgress, TakesTheCellsThatAreMostAlike) {
  const std::vector<CellCourse> courses{finished(1), absent, finished(3), absent};
  EXPECT_EQ(predicted_seconds(some_cells[1], some_cells, courses), 12) << "another seed";
  EXPECT_EQ(predicted_seconds(some_cells[3], some_cells, courses), 23) << "the mean of all";
  const std::vector<CellCourse> other{absent, absent, finished(3), finished(9)};
  EXPECT_EQ(predicted_seconds(some_cells[0], some_cells, other), 34) << "the same batch";
  EXPECT_EQ(predicted_rest(some_cells, courses), 12 + 23);
  EXPECT_EQ(predicted_rest(some_cells, {finished(1), finished(1), finished(1), finished(1)}), 0);
}

// Trials say 10 seconds, of one cell 30; one that has finished took 11.
TEST(StudyProgress, TakesATrialForWhatIsLikeNoFinishedCell) {
  auto cells = some_cells;
  for (auto& cell : cells) cell.trial_seconds = 10;
  cells[3].trial_seconds = 30;
  const std::vector<CellCourse> none(4);
  EXPECT_EQ(predicted_seconds(cells[3], cells, none), 31);
  EXPECT_EQ(predicted_rest(cells, none), 64);
  const std::vector<CellCourse> one{finished(1), absent, absent, absent};
  EXPECT_DOUBLE_EQ(*predicted_seconds(cells[1], cells, one), 12) << "another seed";
  EXPECT_DOUBLE_EQ(*predicted_seconds(cells[3], cells, one), 34) << "as much slower";
}

// A larger model with the batch of a finished cell takes longer, nevertheless.
TEST(StudyProgress, CorrectsATrialByThoseOfItsBatchFirst) {
  auto cells = some_cells;
  for (auto& cell : cells) cell.trial_seconds = 11;
  cells[2].trial_seconds = 50;
  const std::vector<CellCourse> courses{finished(1), absent, absent, finished(3)};
  EXPECT_DOUBLE_EQ(*predicted_seconds(cells[2], cells, courses), 51);
}

TEST(StudyProgress, CountsTheRunningCellByItsOwnSpeed) {
  RunningCell running{.index = 0, .begun_at = 5, .update = 5, .total_updates = 25, .seconds = 2};
  const std::vector<CellCourse> none(4);
  EXPECT_FALSE(seconds_left(running, some_cells, none)) << "no update yet";
  running.update = 15;
  EXPECT_EQ(seconds_left(running, some_cells, none), 2 + 3 * 5) << "the others as this one";
  const std::vector<CellCourse> some{absent, finished(1), absent, absent};
  EXPECT_EQ(seconds_left(running, some_cells, some), 2 + 2 * 12);
  running.total_updates.reset();
  EXPECT_EQ(seconds_left(running, some_cells, some), 3 * 12);
}

TEST(StudyProgress, IsALine) {
  RunningCell running{.index = 3, .update = 0};
  const std::vector<CellCourse> none(4);
  EXPECT_EQ(progress_text(running, some_cells, none),
            "cell 4/4  batch=64,optimizer=lars,seed=1  update 0");
  running.update = 20;
  running.total_updates = 30;
  running.seconds = 40;
  EXPECT_EQ(progress_text(running, some_cells, {finished(1), finished(1), finished(1), absent}),
            "cell 4/4  batch=64,optimizer=lars,seed=1  update 20/30  0:20 left");
}

TEST(StudyProgress, TellsOfACellThatIsOver) {
  const std::vector<CellCourse> courses{finished(2), made_course(State::diverged, {}), absent,
                                        absent};
  EXPECT_EQ(finished_text(0, some_cells, courses),
            "cell 1/4  batch=32,optimizer=sgd,seed=1  50.00 %  20.0 s");
  EXPECT_EQ(finished_text(1, some_cells, courses),
            "cell 2/4  batch=32,optimizer=sgd,seed=2  (nan)  0.0 s");
}

}  // namespace
}  // namespace rubato::app
