#include "app/study_listing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "study_courses.hpp"

namespace rubato::app {
namespace {

using testing::EndsWith;

std::string listing(const std::vector<CellCourse>& courses) {
  std::vector<StudyCell> cells{made_cell("sgd", "32", "1"), made_cell("sgd", "128", "1")};
  cells[1].options[1].value = "0.4";
  std::ostringstream out;
  print_listing(out, cells, courses);
  return out.str();
}

TEST(StudyListing, SaysWhatTheCellsAreAndThatNothingIsKnown) {
  EXPECT_EQ(listing({{}, {.state = CellState::begun, .updates = 17}}),
            "batch=32,optimizer=sgd,seed=1   to run        --lr 0.1\n"
            "batch=128,optimizer=sgd,seed=1  at update 17  --lr 0.4\n"
            "2 cells: 0 finished, 0 diverged, 2 to run\n"
            "predicted time: not known before a cell has finished\n");
}

TEST(StudyListing, SaysWhatItsPredictionIsMadeOf) {
  std::vector<StudyCell> cells{made_cell("sgd", "32", "1"), made_cell("sgd", "128", "1")};
  for (auto& cell : cells) cell.trial_seconds = 70;
  std::ostringstream out;
  print_listing(out, cells, {{}, {}});
  EXPECT_THAT(out.str(), EndsWith("predicted time: 2:22 or so, by one minibatch\n"));
}

TEST(StudyListing, SaysWhatIsMissingForWhatIsToRun) {
  std::vector<StudyCell> cells{made_cell("sgd", "32", "1"), made_cell("sgd", "128", "1")};
  cells[0].why_not_tried = "s.ini:6: a.csv: cannot open";
  cells[1].why_not_tried = "s.ini:6: b.csv: cannot open";
  std::ostringstream out;
  print_listing(out, cells, {made_course(CellState::finished, {0.5}), {}});
  EXPECT_THAT(out.str(), EndsWith("time: 0:12\nmissing: s.ini:6: b.csv: cannot open\n"));
}

TEST(StudyListing, PredictsFromWhatHasFinished) {
  EXPECT_EQ(listing({made_course(CellState::finished, {0.5, 0.5}), {}}),
            "batch=32,optimizer=sgd,seed=1   finished  --lr 0.1\n"
            "batch=128,optimizer=sgd,seed=1  to run    --lr 0.4\n"
            "2 cells: 1 finished, 0 diverged, 1 to run\n"
            "predicted time: 0:23\n");
}

TEST(StudyListing, PredictsNothingWhereNothingIsLeft) {
  EXPECT_EQ(
      listing({made_course(CellState::finished, {0.5}), made_course(CellState::diverged, {})}),
      "batch=32,optimizer=sgd,seed=1   finished  --lr 0.1\n"
      "batch=128,optimizer=sgd,seed=1  diverged  --lr 0.4\n"
      "2 cells: 1 finished, 1 diverged, 0 to run\n");
}

}  // namespace
}  // namespace rubato::app
