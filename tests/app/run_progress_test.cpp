#include "app/run_progress.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/state_file.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

class RunProgress : public testing::Test {
 protected:
  void metrics(const std::string& text) { std::ofstream(directory_ / "metrics.jsonl") << text; }

  const TemporaryDirectory own_;
  const fs::path& directory_ = own_.path();
};

const std::string two_updates =
    "{\"type\":\"context\",\"update\":99}\n{\"type\":\"update\",\"update\":6}\n"
    "{\"type\":\"update\",\"update\":7}\n{\"type\":\"evaluation\",\"update\":98}\n";

TEST_F(RunProgress, IsNothingWhereNothingIs) {
  EXPECT_EQ(last_update(directory_), 0U);
  EXPECT_EQ(last_update(directory_ / "nowhere"), 0U);
  metrics("no json\n{\"type\":\"update\"}\n{\"type\":\"update\",\"update\":\"x\"}\n[1]\n");
  EXPECT_EQ(last_update(directory_), 0U);
}

TEST_F(RunProgress, IsTheLastWholeLineOfAnUpdate) {
  metrics(two_updates + "{\"type\":\"update\",\"upd");
  EXPECT_EQ(last_update(directory_), 7U);
}

TEST_F(RunProgress, NeedsOnlyTheEndOfALongFile) {
  metrics(std::string(1 << 20U, 'x') + "\n" + two_updates);
  EXPECT_EQ(last_update(directory_), 7U);
}

TEST_F(RunProgress, IsThatOfTheStateIfThatIsLater) {
  metrics(two_updates);
  runtime::RunStatus status;
  status.update = 5;
  runtime::write_status(directory_, status);
  EXPECT_EQ(last_update(directory_), 7U);
  status.update = 8;
  runtime::write_status(directory_, status);
  EXPECT_EQ(last_update(directory_), 8U);
  std::ofstream(directory_ / "state.json") << "{";
  EXPECT_EQ(last_update(directory_), 7U);
}

TEST_F(RunProgress, TellsWhyARunStopped) {
  EXPECT_FALSE(stop_reason(directory_));
  runtime::RunStatus status;
  status.reason = "stopped by --max-seconds";
  runtime::write_status(directory_, status);
  EXPECT_FALSE(stop_reason(directory_)) << "it is running";
  status.state = runtime::RunState::preempted;
  runtime::write_status(directory_, status);
  EXPECT_EQ(stop_reason(directory_), "stopped by --max-seconds");
}

TEST_F(RunProgress, KnowsHowManyUpdatesTheRunWillHave) {
  EXPECT_FALSE(total_updates(directory_));
  runtime::RunStatus status;
  runtime::write_status(directory_, status);
  EXPECT_FALSE(total_updates(directory_)) << "its end is not known";
  status.total_updates = 40;
  runtime::write_status(directory_, status);
  EXPECT_EQ(total_updates(directory_), 40U);
}

TEST_F(RunProgress, NoticesAnEndThatIsWrittenFromNowOn) {
  using runtime::RunState;
  runtime::RunStatus status;
  status.written = "2030-01-01T00:00:00Z";
  status.state = RunState::preempted;
  runtime::write_status(directory_, status);
  const auto has_ended = end_notice(directory_);
  EXPECT_FALSE(has_ended()) << "of a job before";
  for (const auto state : {RunState::running, RunState::failed}) {
    status.state = state;
    runtime::write_status(directory_, status);
    EXPECT_FALSE(has_ended()) << name_of(state);
  }
  status.state = RunState::finished;
  runtime::write_status(directory_, status);
  EXPECT_TRUE(has_ended());
  EXPECT_TRUE(end_notice(directory_)()) << "a job that finds nothing to do says nothing";
  status.state = RunState::preempted;
  status.written = "2030-01-01T00:00:09Z";
  runtime::write_status(directory_, status);
  EXPECT_TRUE(has_ended());
  EXPECT_FALSE(end_notice(directory_ / "nowhere")());
}

}  // namespace
}  // namespace rubato::app
