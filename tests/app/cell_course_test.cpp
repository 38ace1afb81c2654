#include "app/cell_course.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "runtime/state_file.hpp"
#include "study_courses.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using runtime::RunState;

CellState state_of(RunState state, const std::string& reason = "", std::optional<int> code = {}) {
  const TemporaryDirectory directory;
  runtime::RunStatus status;
  status.state = state;
  status.reason = reason;
  status.exit_code = code;
  runtime::write_status(directory.path(), status);
  return course_of(directory.path()).state;
}

TEST(CellCourse, IsOverOnceItHasFinishedOrDiverged) {
  EXPECT_EQ(state_of(RunState::running), CellState::begun) << "or was killed";
  EXPECT_EQ(state_of(RunState::preempted), CellState::begun);
  EXPECT_EQ(state_of(RunState::finished), CellState::finished);
  const std::string diverged = "update 2: the loss is not finite: training has diverged (a lower)";
  EXPECT_EQ(state_of(RunState::failed, diverged, 70), CellState::diverged);
  EXPECT_EQ(state_of(RunState::failed, "hosts compute differently", 70), CellState::begun);
  EXPECT_EQ(state_of(RunState::failed, "trace.csv ends", 65), CellState::begun);
}

TEST(CellCourse, HasBegunWithItsOptions) {
  const TemporaryDirectory directory;
  EXPECT_EQ(course_of(directory.path() / "none").state, CellState::absent);
  EXPECT_EQ(course_of(directory.path()).state, CellState::absent);
  directory.write("config.ini", "lr = 1\n");
  EXPECT_EQ(course_of(directory.path()).state, CellState::begun);
  directory.write("state.json", "{");
  EXPECT_EQ(course_of(directory.path()).state, CellState::begun);
}

TEST(CellCourse, CountsTheSecondsUntilEachEvaluation) {
  const TemporaryDirectory directory;
  runtime::RunStatus status;
  status.state = RunState::finished;
  status.update = 3;
  status.total_updates = 3;
  runtime::write_status(directory.path(), status);
  directory.write("metrics.jsonl",
                  R"({"type":"context"}
{"type":"update","update":1,"seconds":0.5}
{"type":"update","update":2,"seconds":0.25}
{"type":"eval","update":2,"epoch":1,"loss":0.5,"accuracy":0.75,"seconds":4}
{"type":"update","update":3,"seconds":0.125}
{"type":"eval","update":3,"epoch":1.5,"loss":null,"accuracy":0.125,"seconds":8}
{"type":"upda)");
  const auto course = course_of(directory.path());
  EXPECT_TRUE(course.is_over());
  EXPECT_EQ(course.updates, 3U);
  EXPECT_EQ(course.total_updates, 3U);
  EXPECT_EQ(course.training_seconds, 0.875);
  EXPECT_EQ(course.evaluation_seconds, 12);
  ASSERT_EQ(course.evaluations.size(), 2U);
  EXPECT_EQ(course.evaluations[0].update, 2U);
  EXPECT_EQ(course.evaluations[0].accuracy, 0.75);
  EXPECT_EQ(course.evaluations[0].seconds, 0.75);
  EXPECT_EQ(course.evaluations[1].epoch, 1.5);
  EXPECT_EQ(course.evaluations[1].seconds, 0.875);
  EXPECT_TRUE(std::isnan(course.evaluations[1].loss));
}

TEST(CourseOfAccuracy, HasABestAndATimeToEachAccuracy) {
  const auto course = made_course(CellState::finished, {0.5, 0.75, 0.75, 0.25});
  EXPECT_EQ(best_of(course)->update, 20U) << "the first of equals";
  EXPECT_EQ(seconds_to(course, 0.5), 10);
  EXPECT_EQ(seconds_to(course, 0.6), 20);
  EXPECT_EQ(seconds_to(course, 0.8), std::nullopt);
  EXPECT_FALSE(best_of(CellCourse{}));
  const auto lost = made_course(CellState::diverged, {std::nan(""), 0.5, std::nan("")});
  EXPECT_EQ(best_of(lost)->update, 20U) << "what is no number is no best";
}

// The last update broke the weights: the run was at its end, and said nothing.
TEST(CellCourse, HasDivergedIfItEndsWithNoLoss) {
  const TemporaryDirectory directory;
  runtime::RunStatus status;
  status.state = RunState::finished;
  runtime::write_status(directory.path(), status);
  const std::string good = R"({"type":"eval","update":2,"loss":0.5,"accuracy":0.75})";
  const std::string broken = R"({"type":"eval","update":3,"loss":null,"accuracy":0.125})";
  directory.write("metrics.jsonl", broken + "\n" + good + "\n");
  EXPECT_EQ(course_of(directory.path()).state, CellState::finished);
  const std::string better = R"({"type":"eval","update":3,"loss":null,"accuracy":0.875})";
  directory.write("metrics.jsonl", good + "\n" + better + "\n");
  const auto course = course_of(directory.path());
  EXPECT_EQ(course.state, CellState::diverged);
  EXPECT_EQ(best_of(course)->accuracy, 0.75) << "without a loss there is nothing to count";
  EXPECT_EQ(seconds_to(course, 0.8), std::nullopt);
}

}  // namespace
}  // namespace rubato::app
