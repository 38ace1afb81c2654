// A run that was stopped and resumed, on other ranks each time, is the run that never was: the same
// digest of the whole state, the same samples in the same updates, each update once in the metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/agreement.hpp"
#include "runtime/checkpoint_store.hpp"
#include "runtime/state_file.hpp"
#include "tests/runtime/small_runs.hpp"
#include "tests/runtime/uneven_run.hpp"

namespace rubato::runtime {
namespace {

namespace fs = std::filesystem;
using testing::explain;
using ::testing::HasSubstr;

// Calls a function after each update, on rank 0.
class AfterUpdate final : public RunLog {
 public:
  explicit AfterUpdate(std::function<void(std::uint64_t)> call) : call_(std::move(call)) {}
  void begin(const RunFacts& facts) override { warnings = facts.warnings; }
  void update(const StepReport& report) override { call_(report.update); }
  void evaluation(const EvaluationReport& /*report*/) override {}
  void end(const RunEnd& /*end*/) override {}
  void warning(const std::string& sentence) override { warnings.push_back(sentence); }

  std::vector<std::string> warnings;

 private:
  std::function<void(std::uint64_t)> call_;
};

class ResumeTest : public testing::UnevenRunTest {
 protected:
  // Goes on with the run in `out` on the first `ranks` ranks; the others wait.
  RunEnd go_on(RunOptions options, std::size_t ranks, std::optional<std::uint64_t> stop_after,
               const std::vector<RunLog*>& logs = {}) {
    options.stop_after_update = stop_after;
    options.output = directory / "run";
    options.output_mode = OutputMode::resume;
    const auto some = world.split(world.rank() < ranks ? 1 : 0, 0);
    RunEnd end;
    if (world.rank() < ranks) {
      Trainer trainer(some, options, explain);
      end = trainer.run(logs);
    }
    world.barrier();
    return end;
  }

  std::string digest_in_directory() const {
    return state_digest(newest_good_checkpoint(directory / "run").newest->checkpoint.state);
  }

  // The updates that the metrics tell of, in order.
  std::vector<std::string> updates_in_metrics() const {
    std::vector<std::string> updates;
    std::ifstream file(directory / "run" / "metrics.jsonl");
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("{\"type\":\"update\"", 0) != 0) continue;
      updates.push_back(line.substr(0, line.find(",\"seconds\"")));
    }
    return updates;
  }

  void expect_same_as_straight(const RunOptions& options, const std::string& label) {
    RunOptions straight = options;
    straight.output = directory / "run";
    straight.output_mode = OutputMode::overwrite;
    std::string expected;
    std::vector<std::string> expected_updates;
    if (world.rank() == 0) {
      expected = testing::digest_of_run(self, straight);
      expected_updates = updates_in_metrics();
      fs::remove_all(*straight.output);
    }
    world.barrier();
    std::size_t ranks = world.size();
    for (const std::uint64_t stop : {1U, 4U, 11U}) {
      go_on(options, ranks, stop);
      ranks = ranks % world.size() + 1;
    }
    go_on(options, ranks, std::nullopt);
    if (world.rank() != 0) return;
    EXPECT_EQ(digest_in_directory(), expected) << label;
    EXPECT_EQ(updates_in_metrics(), expected_updates) << label;
    EXPECT_EQ(read_status(directory / "run").state, RunState::finished);
    fs::remove_all(directory / "run");
  }
};

TEST_F(ResumeTest, ForEveryRuleOptimizerAndMomentumForm) {
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"linear-momentum", "sgd"}, {"root", "sgd"}, {"adascale", "adam"}, {"adascale", "adamw"}};
  for (const auto& [rule, optimizer] : kinds) {
    RunOptions options = uneven_run();
    options.rule = rule;
    options.optimizer.name = optimizer;
    if (optimizer != "sgd") options.optimizer.momentum = 0;
    expect_same_as_straight(options, rule + ", " + optimizer);
  }
  for (const auto form : {optim::MomentumForm::v, optim::MomentumForm::v_corrected}) {
    RunOptions options = uneven_run();
    options.optimizer.form = form;
    expect_same_as_straight(options, "momentum form");
  }
}

TEST_F(ResumeTest, ForEveryEpochEndOrderAndSum) {
  for (const auto epoch_end : {data::EpochEnd::drop, data::EpochEnd::carry}) {
    for (const auto order : {data::OrderKind::torch, data::OrderKind::feistel}) {
      RunOptions options = uneven_run();
      options.epoch_end = epoch_end;
      options.order = order;
      expect_same_as_straight(options, to_string(epoch_end) + ", " + to_string(order));
    }
  }
}

TEST_F(ResumeTest, ForConvolutionsBatchNormDropoutAndSchedulesInProgress) {
  for (const char* model : {"mnist", "mnist-tutorial"}) {
    RunOptions options = uneven_run();
    options.data.spec = "synthetic:samples=200,shape=1x28x28,classes=10";
    options.model = model;
    options.rule = "adascale";
    options.updates = 6;
    options.schedule.name = "cosine";
    options.schedule.unit = optim::ScheduleUnit::progress;
    options.schedule.span = 20;
    expect_same_as_straight(options, model);
  }
}

TEST_F(ResumeTest, ASignalToOneRankStopsAllAfterTheSameUpdate) {
  const RunOptions options = uneven_run();
  AfterUpdate signal([](std::uint64_t update) {
    if (update == 3) std::raise(SIGUSR1);
  });
  const RunEnd end = go_on(options, world.size(), std::nullopt, {&signal});
  EXPECT_TRUE(end.was_stopped);
  EXPECT_EQ(end.updates, 4U);
  if (world.rank() == 0) {
    EXPECT_EQ(end.reason, "stopped by SIGUSR1");
    const RunStatus status = read_status(directory / "run");
    EXPECT_EQ(status.state, RunState::preempted);
    EXPECT_EQ(status.update, 4U);
    EXPECT_EQ(stored_checkpoints(directory / "run").front().update, 4U);
  }
}

TEST_F(ResumeTest, ADamagedCheckpointIsSkippedWithAReasonAndCostsNothingButTime) {
  RunOptions options = uneven_run();
  options.checkpoint_every = 1;
  go_on(options, world.size(), 5);
  std::string expected;
  if (world.rank() == 0) {
    expected = testing::digest_of_run(self, uneven_run());
    std::ofstream(directory / "run" / "checkpoints" / "ckpt-5.h5", std::ios::app) << "x";
    fs::remove(directory / "run" / "checkpoints" / "ckpt-4.h5.sha256");
  }
  world.barrier();
  AfterUpdate log([](std::uint64_t) {});
  const RunEnd end = go_on(options, world.size(), std::nullopt, {&log});
  EXPECT_EQ(end.updates, 12U);
  if (world.rank() != 0) return;
  EXPECT_EQ(digest_in_directory(), expected);
  ASSERT_EQ(log.warnings.size(), 2U);
  EXPECT_THAT(log.warnings[0], HasSubstr("ckpt-5.h5"));
  EXPECT_THAT(log.warnings[0], HasSubstr("checksum"));
  EXPECT_THAT(log.warnings[1], HasSubstr("ckpt-4.h5"));
  EXPECT_EQ(updates_in_metrics().size(), 12U);
}

TEST_F(ResumeTest, WhereNoCheckpointIsGoodTheRunIsRefused) {
  const RunOptions options = uneven_run();
  go_on(options, world.size(), 2);
  if (world.rank() == 0) {
    for (const auto& stored : stored_checkpoints(directory / "run")) {
      fs::resize_file(stored.file, 100);
    }
  }
  world.barrier();
  try {
    go_on(options, world.size(), std::nullopt);
    ADD_FAILURE() << "expected a refusal";
  } catch (const collectives::AgreedFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("none of its 2 checkpoints can be used"));
    EXPECT_THAT(failure.what(), HasSubstr("ckpt-2.h5"));
  }
  world.barrier();
}

TEST_F(ResumeTest, OtherDataAndTracesAreRefusedOtherPathsAreNot) {
  go_on(uneven_run(), world.size(), 2);
  const auto refusal = [&](const RunOptions& options) {
    try {
      go_on(options, world.size(), 3);
    } catch (const collectives::AgreedFailure& failure) {
      world.barrier();
      return std::string(failure.what());
    }
    return std::string();
  };
  RunOptions other_data = uneven_run();
  other_data.data.spec += ",seed=2";
  EXPECT_THAT(refusal(other_data), HasSubstr("the training data differs"));
  RunOptions other_trace = uneven_run();
  other_trace.trace_file.clear();
  other_trace.updates = 12;
  EXPECT_THAT(refusal(other_trace), HasSubstr("the trace differs"));
  RunOptions other_model = uneven_run();
  other_model.model = "mlp:17";
  EXPECT_THAT(refusal(other_model), HasSubstr("the model's layout differs"));
  RunOptions moved = uneven_run();
  if (world.rank() == 0) fs::copy(directory / "trace.csv", directory / "moved.csv");
  world.barrier();
  moved.trace_file = directory / "moved.csv";
  EXPECT_EQ(refusal(moved), "");
}

TEST_F(ResumeTest, AFinishedRunSaysSoAndALaterEndGoesOn) {
  RunOptions options = uneven_run();
  options.updates = 6;
  go_on(options, world.size(), std::nullopt);
  options.output = directory / "run";
  options.output_mode = OutputMode::resume;
  EXPECT_TRUE(Trainer(world, options, explain).is_finished());
  world.barrier();
  options.updates = 9;
  EXPECT_FALSE(Trainer(world, options, explain).is_finished());
  world.barrier();
  EXPECT_EQ(go_on(options, world.size(), std::nullopt).updates, 9U);
  RunOptions straight = uneven_run();
  straight.updates = 9;
  if (world.rank() == 0) {
    EXPECT_EQ(digest_in_directory(), testing::digest_of_run(self, straight));
  }
}

// Where checkpoints cannot be written, training goes on; what is missing at the end is an error.
TEST_F(ResumeTest, AnOutageOfTheDiskIsAWarningUntilTheEnd) {
  const fs::path checkpoints = directory / "run" / "checkpoints";
  for (const std::uint64_t repaired_after : {8U, 99U}) {
    AfterUpdate log([&](std::uint64_t update) {
      if (update == 2) {
        fs::rename(checkpoints, directory / "away");
        std::ofstream(checkpoints) << "in the way";
      } else if (update == repaired_after) {
        fs::remove(checkpoints);
        fs::rename(directory / "away", checkpoints);
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
      ASSERT_FALSE(log.warnings.empty());
      EXPECT_THAT(log.warnings[0], HasSubstr("checkpoints"));
      if (failure.empty()) {
        EXPECT_EQ(stored_checkpoints(directory / "run").front().update, 12U);
      }
      fs::remove_all(directory / "run");
      fs::remove_all(directory / "away");
    }
    world.barrier();
  }
}

TEST_F(ResumeTest, ASecondRunInTheSameDirectoryIsRefused) {
  RunOptions options = uneven_run();
  options.output = directory / "run";
  options.output_mode = OutputMode::resume;
  const Trainer first(world, options, explain);
  world.barrier();
  try {
    const Trainer second(world, options, explain);
    ADD_FAILURE() << "expected a refusal";
  } catch (const collectives::AgreedFailure& failure) {
    EXPECT_THAT(failure.what(),
                HasSubstr("in use by process " +
                          (world.rank() == 0 ? std::to_string(::getpid()) : std::string())));
  }
}

}  // namespace
}  // namespace rubato::runtime
