// A run that was stopped and resumed, on other ranks each time, is the run that never was: the same
// digest of the whole state, the same samples in the same updates, each update once in the metrics.
#include <gtest/gtest.h>

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/state_file.hpp"
#include "tests/runtime/resumed_run.hpp"

namespace rubato::runtime {
namespace {

namespace fs = std::filesystem;

class ResumeTest : public ResumedRunTest {
 protected:
  void expect_same_as_straight(const RunOptions& options, const std::string& label) {
    RunOptions straight = options;
    straight.output = directory / "run";
    straight.output_mode = OutputMode::overwrite;
    std::string expected;
    std::vector<std::string> expected_updates;
    if (world.rank() == 0) {
      expected = digest_of_run(self, straight);
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
      {"linear-momentum", "sgd"}, {"root", "sgd"},       {"adascale", "adam"},
      {"adascale", "adamw"},      {"adamscale", "adam"}, {"legw", "sgd"},
      {"constant", "adadelta"},   {"linear", "lars"},    {"root", "lamb"},
      {"adamscale", "lars"}};
  for (const auto& [rule, optimizer] : kinds) {
    RunOptions options = uneven_run();
    options.rule = rule;
    options.optimizer.name = optimizer;
    if (rule == "legw") options.legw_warmup = 0.5;
    if (optimizer != "sgd" && optimizer != "lars") options.optimizer.momentum = 0;
    expect_same_as_straight(options, rule + ", " + optimizer);
  }
  for (const auto form : {optim::MomentumForm::v, optim::MomentumForm::v_corrected}) {
    RunOptions options = uneven_run();
    options.optimizer.form = form;
    expect_same_as_straight(options, "momentum form");
  }
}

// Stops fall between the two updates whose gradients are compared, too.
TEST_F(ResumeTest, ForEverythingThatIsMeasuredOfGradients) {
  for (const bool is_single : {false, true}) {
    RunOptions options = is_single ? single_minibatches_run(14) : uneven_run();
    measure_everything(options, "adam");
    expect_same_as_straight(options, is_single ? "single minibatches" : "uneven batches");
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
  const StopRequest stop;
  RunOptions options = uneven_run();
  options.stop_request = &stop;
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

// oneDNN keeps data below the stack pointer: a handler there would change them (stop_request.hpp).
TEST_F(ResumeTest, SignalsDoNotDisturbTheArithmetic) {
  RunOptions options = small_run();
  options.model = "mlp:256,256";
  options.data.spec = "synthetic:samples=4000,shape=1x16x16,classes=10";
  options.batch_size = 128;
  options.minibatch = 32;
  options.epochs.reset();
  options.updates = 60;
  const std::string expected = digest_of_run(world, options);
  const StopRequest handlers;  // nobody looks at it
  const pthread_t computing = ::pthread_self();
  std::string digest;
  {
    const std::jthread storm([computing](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        ::pthread_kill(computing, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    });
    digest = digest_of_run(world, options);
  }
  EXPECT_EQ(digest, expected);
  EXPECT_TRUE(handlers.is_requested());
}

// The last update of an epoch under carry is cut where the run ends; with a later end it is not.
TEST_F(ResumeTest, ALaterEndIsRefusedWhereTheOldOneHasCutAnUpdate) {
  RunOptions options = small_run();
  options.epoch_end = data::EpochEnd::carry;  // 300 samples: 7 updates of 40, and one of 20
  options.checkpoint_every = 7;
  EXPECT_EQ(go_on(options, world.size(), std::nullopt).updates, 8U);
  options.epochs = 2;
  EXPECT_NE(refusal(options, std::nullopt).find("update 8 of the checkpoint was cut"),
            std::string::npos);
  if (world.rank() == 0) fs::remove(directory / "run" / "checkpoints" / "ckpt-8.h5");
  world.barrier();
  EXPECT_EQ(go_on(options, world.size(), std::nullopt).updates, 15U);
  if (world.rank() == 0) {
    EXPECT_EQ(digest_in_directory(), digest_of_run(self, options));
  }
}

TEST_F(ResumeTest, AStopThatHasBeenReachedIsKept) {
  const RunOptions options = uneven_run();
  go_on(options, world.size(), 5);
  for (const std::uint64_t stop : {5U, 3U}) {
    const RunEnd end = go_on(options, world.size(), stop);
    EXPECT_TRUE(end.was_stopped);
    EXPECT_EQ(end.updates, 5U);
  }
}

TEST_F(ResumeTest, AGoalThatHasBeenReachedIsTheEndWhereverItWasToStop) {
  RunOptions options = uneven_run();
  options.until_progress = 3;
  const RunEnd reached = go_on(options, world.size(), std::nullopt);
  const RunEnd again = go_on(options, world.size(), 1);
  EXPECT_FALSE(again.was_stopped);
  EXPECT_EQ(again.reason, "progress reached");
  EXPECT_EQ(again.updates, reached.updates);
}

TEST_F(ResumeTest, AFinishedRunSaysSoAndALaterEndGoesOn) {
  RunOptions options = uneven_run();
  options.updates = 6;
  go_on(options, world.size(), std::nullopt);
  options.output = directory / "run";
  options.output_mode = OutputMode::resume;
  EXPECT_TRUE(Trainer(world, options, collectives::plain_failure).is_finished());
  world.barrier();
  options.updates = 9;
  EXPECT_FALSE(Trainer(world, options, collectives::plain_failure).is_finished());
  world.barrier();
  EXPECT_EQ(go_on(options, world.size(), std::nullopt).updates, 9U);
  RunOptions straight = uneven_run();
  straight.updates = 9;
  if (world.rank() == 0) {
    EXPECT_EQ(digest_in_directory(), digest_of_run(self, straight));
  }
}

}  // namespace
}  // namespace rubato::runtime
