// What a run leaves while it goes on: which checkpoints, and what it says where one cannot be
// written.
#include "runtime/run_output.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/errors.hpp"
#include "runtime/state_file.hpp"
#include "tests/runtime/resumed_run.hpp"
#include "tests/runtime/small_disk.hpp"

namespace rubato::runtime {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class RunOutputTest : public ResumedRunTest {
 protected:
  std::vector<std::uint64_t> stored() const {
    std::vector<std::uint64_t> updates;
    for (const auto& one : stored_checkpoints(directory / "run")) updates.push_back(one.update);
    return updates;
  }
};

TEST_F(RunOutputTest, KeepsTheLastCheckpointsAndTheFirst) {
  RunOptions options = uneven_run();
  options.checkpoint_every = 2;
  options.kept_checkpoints = 2;
  go_on(options, world.size(), 7);
  if (world.rank() == 0) {
    EXPECT_EQ(stored(), (std::vector<std::uint64_t>{7, 6, 0}));
  }
  go_on(options, world.size(), std::nullopt);
  if (world.rank() == 0) {
    EXPECT_EQ(stored(), (std::vector<std::uint64_t>{12, 10, 0}));
  }
}

// The good checkpoint before is what to go on from.
TEST_F(RunOutputTest, AStopDoesNotSaveWeightsThatAreNotFinite) {
  RunOptions options = uneven_run();
  options.schedule.base_rate = 1e38;
  options.optimizer.weight_decay = 1e30;
  EXPECT_NE(refusal(options, 1).find("update 1: the weights are not finite"), std::string::npos);
  if (world.rank() == 0) {
    EXPECT_EQ(stored(), std::vector<std::uint64_t>{0});
    EXPECT_EQ(read_status(directory / "run").state, RunState::failed);
  }
}

TEST_F(RunOutputTest, WithoutAnIntervalAShortRunHasTheFirstAndTheLast) {
  go_on(uneven_run(), world.size(), std::nullopt);
  if (world.rank() == 0) {
    EXPECT_EQ(stored(), (std::vector<std::uint64_t>{12, 0}));
  }
}

// At once: the writer of checkpoints, which makes a missing directory, never sees one missing.
void exchange(const fs::path& one, const fs::path& other) {
  ASSERT_EQ(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE), 0);
}

// Where checkpoints cannot be written, training goes on; what is missing at the end is an error.
TEST_F(RunOutputTest, AnOutageOfTheDiskIsAWarningUntilTheEnd) {
  const fs::path checkpoints = directory / "run" / "checkpoints";
  const fs::path away = directory / "away";
  for (const std::uint64_t repaired_after : {8U, 99U}) {
    AfterUpdate log([&](std::uint64_t update) {
      if (update == 2) {
        std::ofstream(away) << "in the way";
        exchange(checkpoints, away);
      } else if (update == repaired_after) {
        exchange(checkpoints, away);
      }
    });
    RunOptions options = uneven_run();
    options.checkpoint_every = 1;
    std::string failure;
    try {
      EXPECT_EQ(go_on(options, world.size(), std::nullopt, {&log}).updates, 12U);
    } catch (const collectives::AgreedFailure& error) {
      failure = error.what();
      world.barrier();
    }
    EXPECT_EQ(failure.empty(), repaired_after == 8) << failure;
    if (world.rank() == 0) {
      EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("checkpoints")));  // once per outage
      if (!failure.empty()) {
        EXPECT_EQ(read_status(directory / "run").state, RunState::failed);
      } else {
        EXPECT_EQ(stored_checkpoints(directory / "run").front().update, 12U);
      }
      fs::remove_all(directory / "run");
      fs::remove_all(away);
    }
    world.barrier();
  }
}

// A replay would miss a decision.
TEST_F(RunOutputTest, DecisionsThatTheDiskRefusesAreAWarningUntilTheEnd) {
  if (world.rank() != 0) return;
  RunOptions options;
  options.adaptive.emplace();
  RunDirectory run(directory / "run", OutputMode::fresh);
  AfterUpdate log([](std::uint64_t) {});
  const std::string decisions(100'000, '0');
  RunOutput::Record record;
  record.decisions = decisions + "\n";
  RunOutput output(options, &run, {&log}, RunFacts(), record, data::BatchTrace::constant(8));
  const SmallDisk full(decisions.size() + 10);
  output.decision({{}, false, 0});
  EXPECT_TRUE(log.warnings.empty());
  output.decision({{}, true, 0});
  ASSERT_EQ(log.warnings.size(), 1U);
  EXPECT_THAT(log.warnings[0], HasSubstr("decisions.csv"));
  EXPECT_THROW(output.end({}, {}), WriteError);
}

TEST_F(RunOutputTest, TensorboardsRecordsThatTheDiskRefusesAreAWarningUntilTheEnd) {
  if (world.rank() != 0) return;
  RunOptions options;
  options.writes_tensorboard = true;
  RunDirectory run(directory / "run", OutputMode::fresh);
  AfterUpdate log([](std::uint64_t) {});
  RunOutput output(options, &run, {&log}, RunFacts(), {}, data::BatchTrace::constant(8));
  {
    const SmallDisk full(90);  // holds what the events begin with
    for (int update = 0; update < 3; ++update) output.update({});
    ASSERT_EQ(log.warnings.size(), 2U);  // of the metrics too; once per outage
    EXPECT_THAT(log.warnings[0], HasSubstr("metrics.jsonl"));
    EXPECT_THAT(log.warnings[1], HasSubstr("tensorboard/events.out.tfevents."));
    EXPECT_THROW(output.end({}, {}), WriteError);
  }
  EXPECT_NO_THROW(output.end({}, {}));
  for (const auto& file : fs::directory_iterator(directory / "run" / "tensorboard")) {
    EXPECT_GT(fs::file_size(file), 3 * 200U);
  }
}

}  // namespace
}  // namespace rubato::runtime
