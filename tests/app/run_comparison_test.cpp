// Two directories with one checkpoint each and a few lines of metrics.
#include "app/run_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "data/errors.hpp"
#include "runtime/checkpoint.hpp"
#include "tests/runtime/example_state.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;

std::string update(int number, double loss, double seconds) {
  return R"({"type":"update","update":)" + std::to_string(number) + R"(,"loss":)" +
         std::to_string(loss) + R"(,"seconds":)" + std::to_string(seconds) + R"(,"imbalance":)" +
         std::to_string(seconds / 2) + "}\n";
}

const std::string context = "{\"type\":\"context\",\"ranks\":2}\n";
const std::string resumed = "{\"type\":\"context\",\"ranks\":3,\"resumed_from\":1}\n";
const std::string epoch = "{\"type\":\"epoch\",\"epoch\":0,\"samples\":9,\"audit\":\"a\"}\n";

class RunComparisonTest : public testing::Test {
 protected:
  RunComparisonTest() {
    state.cursor.update = 2;
    for (const auto& run : {straight, killed}) {
      std::filesystem::create_directories(run / "checkpoints");
      write(run);
    }
    metrics(straight, context + update(1, 0.5, 1) + update(2, 0.25, 1) + epoch);
    metrics(killed, context + update(1, 0.5, 7) + resumed + update(2, 0.25, 7) + epoch);
  }

  void write(const std::filesystem::path& run) const {
    runtime::write_checkpoint(runtime::checkpoint_path(run, state.cursor.update), {state, {}, {}});
  }
  static void metrics(const std::filesystem::path& run, const std::string& text) {
    std::ofstream(run / "metrics.jsonl") << text;
  }
  std::string first_difference() const { return compare_runs(straight, killed).first_difference; }

  TemporaryDirectory directory;
  std::filesystem::path straight = directory.path() / "straight";
  std::filesystem::path killed = directory.path() / "killed";
  runtime::TrainingState state = runtime::example_state();
};

TEST_F(RunComparisonTest, ContextsAndSecondsDoNotCount) {
  const auto comparison = compare_runs(straight, killed);
  EXPECT_EQ(comparison.first_difference, "");
  EXPECT_EQ(comparison.update_lines, 2U);
  EXPECT_EQ(comparison.epoch_lines, 1U);
  EXPECT_EQ(comparison.straight.updates, 2U);
  EXPECT_EQ(comparison.straight.digest, runtime::state_digest(state));
  EXPECT_EQ(comparison.straight.digest, comparison.killed.digest);
}

TEST_F(RunComparisonTest, AnExchangedCheckpointShows) {
  state.model[0].values[0] += 1;
  write(killed);
  const auto comparison = compare_runs(straight, killed);
  EXPECT_NE(comparison.straight.digest, comparison.killed.digest);
  EXPECT_THAT(comparison.first_difference,
              HasSubstr("the last checkpoints: model " + state.model[0].name + ": 1 of "));
}

TEST_F(RunComparisonTest, ASampleUsedInAnotherUpdateShows) {
  state.audit.run_digest ^= 1;
  write(killed);
  EXPECT_THAT(first_difference(), HasSubstr("the last checkpoints: "));
}

TEST_F(RunComparisonTest, TheFirstFieldThatDiffersIsNamed) {
  metrics(killed, context + update(1, 0.5, 7) + update(2, 0.125, 7) + epoch);
  EXPECT_EQ(first_difference(),
            "update 2: loss is 0.25 in the straight run, 0.125 in the killed run");
}

TEST_F(RunComparisonTest, AnUpdateRunTwiceOrLeftOutShows) {
  metrics(killed, context + update(1, 0.5, 7) + update(1, 0.5, 7) + update(2, 0.25, 7) + epoch);
  EXPECT_EQ(first_difference(),
            "update 2 in the straight run stands against update 1 in the killed run");
  metrics(killed, context + update(1, 0.5, 7) + update(2, 0.25, 7));
  EXPECT_EQ(
      first_difference(),
      "epoch 0 in the straight run stands against the end of metrics.jsonl in the killed run");
  metrics(straight, context + update(1, 0.5, 1) + update(3, 0.25, 1));
  metrics(killed, context + update(1, 0.5, 1) + update(3, 0.25, 1));
  EXPECT_EQ(first_difference(), "update 3 follows update 1 in both runs");
}

TEST_F(RunComparisonTest, MetricsMustReachTheCheckpoint) {
  metrics(straight, context + update(1, 0.5, 1));
  metrics(killed, context + update(1, 0.5, 1));
  EXPECT_THAT(first_difference(), HasSubstr("ends with update 1, the last checkpoint is of update"
                                            " 2"));
}

TEST_F(RunComparisonTest, WhatIsMissingOrTornIsNamed) {
  metrics(killed, context + "{\"type\":\"upd");
  EXPECT_THROW(first_difference(), data::ContentError);
  std::filesystem::remove(killed / "metrics.jsonl");
  EXPECT_THROW(first_difference(), data::MissingFileError);
  std::filesystem::remove_all(killed / "checkpoints");
  EXPECT_THROW(first_difference(), data::MissingFileError);
}

}  // namespace
}  // namespace rubato::app
