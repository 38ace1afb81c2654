#include "app/study_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "study_courses.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using State = CellState;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The baseline is sgd at batch 64: (0.75 + 0.5) / 2 against 0.5.
const std::vector<StudyCell> cells{made_cell("sgd", "32", "1"),  made_cell("sgd", "64", "1"),
                                   made_cell("sgd", "64", "2"),  made_cell("lars", "32", "1"),
                                   made_cell("lars", "64", "1"), made_cell("lars", "64", "2")};
const std::vector<CellCourse> courses{made_course(State::finished, {0.25, 0.5}),
                                      made_course(State::finished, {0.25, 0.75}),
                                      made_course(State::finished, {0.5, 0.5, 0.25}),
                                      made_course(State::finished, {0.5, 0.6875, 0.9375}),
                                      made_course(State::diverged, {0.125, nan}),
                                      made_course(State::begun, {1})};

StudyResults results() { return results_of("s", cells, courses); }

TEST(StudyResults, HaveTheCellsThatAreOver) {
  const auto found = results();
  ASSERT_EQ(found.cells.size(), 5U);
  EXPECT_FALSE(found.cells[3].has_diverged);
  EXPECT_TRUE(found.cells[4].has_diverged);
  EXPECT_EQ(found.cells[3].updates, 30U);
  EXPECT_EQ(found.cells[3].training_seconds, 30);
}

TEST(StudyResults, HaveTheFirstBestAndTheLast) {
  const auto found = results();
  EXPECT_EQ(found.cells[2].best->update, 10U) << "the first of two";
  EXPECT_EQ(found.cells[2].last->accuracy, 0.25);
  EXPECT_EQ(found.cells[4].best->accuracy, 0.125) << "what is no number is no best";
}

TEST(StudyResults, AreMeasuredAgainstTheBestOfTheFirstGroup) {
  const auto found = results();
  ASSERT_TRUE(found.baseline);
  EXPECT_EQ(found.baseline->group, "optimizer=sgd");
  EXPECT_EQ(found.baseline->batch, "64");
  EXPECT_EQ(found.baseline->accuracy, 0.625);
  EXPECT_EQ(found.cells[3].closest->accuracy, 0.6875) << "not the best";
  EXPECT_EQ(found.cells[3].closest->seconds, 20);
  EXPECT_EQ(found.cells[1].closest->update, 20U);
}

TEST(StudyResults, HaveNoBaselineBeforeTheFirstGroupHasOne) {
  auto early = courses;
  for (std::size_t i = 0; i < 3; ++i) early[i] = made_course(State::diverged, {0.5});
  const auto found = results_of("s", cells, early);
  EXPECT_FALSE(found.baseline);
  EXPECT_FALSE(found.cells[3].closest);
  EXPECT_THAT(results_as_json(found), HasSubstr("\"baseline\": null"));
}

TEST(StudyResults, AreLinesWithTheTimesLast) {
  const auto csv = results_as_csv(results());
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "cell,batch,optimizer,seed,lr,state,updates_done,"
            "best_accuracy,best_loss,best_update,best_epoch,"
            "closest_accuracy,closest_loss,closest_update,closest_epoch,"
            "last_accuracy,last_loss,last_update,last_epoch,"
            "training_seconds,seconds_to_best,seconds_to_closest");
  EXPECT_THAT(csv, HasSubstr("\n\"batch=32,optimizer=lars,seed=1\",32,lars,1,0.1,finished,30,"
                             "0.9375,0.0625,30,3.0,0.6875,0.3125,20,2.0,0.9375,0.0625,30,3.0,"
                             "30.0,30.0,20.0\n"));
  EXPECT_THAT(csv, HasSubstr(",64,lars,1,0.1,diverged,20,0.125,0.875,10,1.0,0.125,0.875,10,1.0,"
                             ",,20,2.0,20.0,10.0,10.0\n"));
}

TEST(StudyResults, AreADocument) {
  const auto json = nlohmann::json::parse(results_as_json(results()));
  EXPECT_EQ(json["study"], "s");
  EXPECT_EQ(json["baseline"]["batch"], 64);
  EXPECT_EQ(json["baseline"]["accuracy"], 0.625);
  const auto& cell = json["cells"][3];
  EXPECT_EQ(cell["cell"], "batch=32,optimizer=lars,seed=1");
  EXPECT_EQ(cell["optimizer"], "lars");
  EXPECT_EQ(cell["seed"], 1);
  EXPECT_EQ(cell["state"], "finished");
  EXPECT_EQ(cell["closest"]["update"], 20);
  EXPECT_EQ(cell["options"]["lr"], "0.1");
  EXPECT_EQ(cell["times"]["seconds_to_closest"], 20);
  EXPECT_EQ(json["cells"][4]["state"], "diverged");
  EXPECT_TRUE(json["cells"][4]["last"]["accuracy"].is_null());
}

// The baseline is 0.5, and so would the accuracy be that comes with no loss.
TEST(StudyResults, AreClosestWhereTheyTellSomething) {
  auto broken = made_course(State::diverged, {0.25, 0.5});
  broken.evaluations[1].loss = std::nan("");
  const auto found =
      results_of("s", {cells[0], cells[3]}, {made_course(State::finished, {0.5}), broken});
  ASSERT_TRUE(found.cells[1].closest);
  EXPECT_EQ(found.cells[1].closest->update, 10U);
}

TEST(StudyResults, MayHaveNoTestSet) {
  const auto found = results_of("s", {cells[0]}, {made_course(State::finished, {})});
  ASSERT_EQ(found.cells.size(), 1U);
  EXPECT_FALSE(found.cells[0].best);
  EXPECT_THAT(results_as_csv(found), HasSubstr(",finished,0,,,,,,,,,,,,,0.0,,\n"));
}

}  // namespace
}  // namespace rubato::app
