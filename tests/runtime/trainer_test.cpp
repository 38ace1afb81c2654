// A whole run: what it reports, what it writes, and how it refuses.
#include "runtime/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "collectives/agreement.hpp"
#include "runtime/checkpoint.hpp"
#include "tests/runtime/small_runs.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class TrainerTest : public testing::Test {
 protected:
  TrainerTest() {
    if (world.rank() == 0) directory = std::make_unique<TemporaryDirectory>();
    path = world.broadcast(directory ? directory->path().string() : std::string(), 0);
  }
  ~TrainerTest() override { world.barrier(); }

  // What refuses the run on every rank alike; empty if nothing does.
  std::string refusal(const RunOptions& options) {
    try {
      Trainer trainer(world, options, collectives::plain_failure);
      trainer.run({});
    } catch (const collectives::AgreedFailure& failure) {
      return failure.what();
    }
    return {};
  }

  collectives::Communicator world = collectives::Communicator::world();
  std::unique_ptr<TemporaryDirectory> directory;
  std::filesystem::path path;
};

TEST_F(TrainerTest, ReportsEveryUpdateAndAnEvaluationPerEpoch) {
  RunOptions options = small_run();
  options.epochs = 2;
  options.rule = "linear";
  options.reference_batch = 20;
  options.shadow_rules = {"root"};
  Recorder recorder;
  Trainer trainer(world, options, collectives::plain_failure);
  const RunEnd end = trainer.run({&recorder});
  EXPECT_EQ(end.updates, 14U);  // 296 of 300 samples make whole minibatches: 7 updates of 40
  EXPECT_EQ(end.reason, "done");
  if (world.rank() != 0) {
    EXPECT_TRUE(recorder.updates.empty());
    return;
  }
  ASSERT_EQ(recorder.updates.size(), 14U);
  EXPECT_TRUE(recorder.updates.front().was_repeated);
  for (std::size_t i = 0; i < 14; ++i) {
    const StepReport& report = recorder.updates[i];
    EXPECT_EQ(report.update, i + 1);
    EXPECT_EQ(report.epoch, i / 7);
    EXPECT_EQ(report.batch_size, 40U);
    EXPECT_EQ(report.substeps, 5U);
    EXPECT_EQ(report.samples, 40 * (i + 1));
    EXPECT_DOUBLE_EQ(report.learning_rate, 0.05 * 2);
    EXPECT_DOUBLE_EQ(report.learning_rate_factor, 2);
    ASSERT_EQ(report.shadow_rates.size(), 1U);
    EXPECT_DOUBLE_EQ(report.shadow_rates[0].rate, 0.05 * std::sqrt(2.0));
    EXPECT_GE(report.gain, 1);
    EXPECT_LE(report.gain, 2);
  }
  EXPECT_LT(recorder.updates.back().loss, recorder.updates.front().loss);
  ASSERT_EQ(recorder.evaluations.size(), 2U);
  EXPECT_EQ(recorder.evaluations[0].update, 7U);
  EXPECT_DOUBLE_EQ(recorder.evaluations[1].epoch, 2);
  EXPECT_GT(recorder.evaluations[1].accuracy, 0.5);
  EXPECT_EQ(recorder.ends.size(), 1U);
}

TEST_F(TrainerTest, EvaluatesWithinEpochsToo) {
  RunOptions options = small_run();
  options.evaluate_every = 100;  // samples; the updates have 40, an epoch 7 of them
  Recorder recorder;
  Trainer(world, options, collectives::plain_failure).run({&recorder});
  if (world.rank() != 0) return;
  std::vector<std::uint64_t> updates;
  for (const EvaluationReport& report : recorder.evaluations) updates.push_back(report.update);
  EXPECT_EQ(updates, (std::vector<std::uint64_t>{3, 5, 7}));
}

TEST_F(TrainerTest, LeavesCheckpointsConfigurationAndMetrics) {
  RunOptions options = small_run();
  options.output = path / "run";
  options.configuration = "data = synthetic\n";
  Trainer trainer(world, options, collectives::plain_failure);
  trainer.run({});
  if (world.rank() != 0) return;
  const TrainingState first = read_checkpoint(checkpoint_path(*options.output, 0)).state;
  const TrainingState last = read_checkpoint(checkpoint_path(*options.output, 7)).state;
  EXPECT_EQ(first.cursor.update, 0U);
  EXPECT_EQ(last.cursor.update, 7U);
  EXPECT_EQ(last.cursor.samples, 280U);
  EXPECT_EQ(state_digest(last), state_digest(trainer.state()));
  EXPECT_NE(state_digest(last), state_digest(first));
  std::ifstream configuration(*options.output / "config.ini");
  std::string line;
  std::getline(configuration, line);
  EXPECT_EQ(line, "data = synthetic");
  EXPECT_TRUE(std::filesystem::exists(*options.output / "metrics.jsonl"));
}

TEST_F(TrainerTest, DoesNotWriteOverARunUnlessTold) {
  RunOptions options = small_run();
  options.output = path / "run";
  EXPECT_EQ(refusal(options), "");
  EXPECT_THAT(refusal(options), HasSubstr("holds a run already"));
  options.output_mode = OutputMode::overwrite;
  EXPECT_EQ(refusal(options), "");
}

TEST_F(TrainerTest, AnOutputThatCannotBeMadeIsRefusedByAllRanks) {
  if (world.rank() == 0) std::ofstream(path / "file") << "not a directory";
  world.barrier();
  RunOptions options = small_run();
  options.output = path / "file" / "run";
  EXPECT_THAT(refusal(options), HasSubstr((path / "file" / "run").string()));
}

TEST_F(TrainerTest, BadInputIsRefusedByAllRanks) {
  RunOptions unknown_model = small_run();
  unknown_model.model = "mlpp";
  EXPECT_THAT(refusal(unknown_model), HasSubstr("mlpp"));
  RunOptions missing_trace = small_run();
  missing_trace.trace_file = (path / "none.csv").string();
  EXPECT_THAT(refusal(missing_trace), HasSubstr("none.csv"));
  RunOptions endless = small_run();
  endless.epochs.reset();
  EXPECT_THAT(refusal(endless), HasSubstr("no end"));
}

TEST_F(TrainerTest, StopsWhenTheProgressIsReached) {
  RunOptions options = small_run();
  options.epochs.reset();
  options.reference_batch = 40;  // gain 1: progress counts updates
  options.until_progress = 9.5;
  Trainer trainer(world, options, collectives::plain_failure);
  const RunEnd end = trainer.run({});
  EXPECT_EQ(end.updates, 10U);
  EXPECT_EQ(end.reason, "progress reached");
}

// No later gradient would show what the last update did.
TEST_F(TrainerTest, ARunThatDivergesInItsLastUpdateFails) {
  RunOptions options = small_run();
  options.epochs.reset();
  options.updates = 1;
  options.schedule.base_rate = 1e38;
  options.optimizer.weight_decay = 1e30;
  EXPECT_THAT(refusal(options), HasSubstr("update 1: the weights are not finite"));
}

TEST_F(TrainerTest, ATraceThatEndsBeforeTheProgressSaysSo) {
  RunOptions options = small_run();
  options.reference_batch = 40;
  options.until_progress = 30;
  EXPECT_THAT(refusal(options), HasSubstr("the trace ended at progress 7"));
}

TEST_F(TrainerTest, ADivergingRunEndsOnAllRanksNamingTheUpdate) {
  RunOptions options = small_run();
  options.schedule.base_rate = 1e30;
  try {
    Trainer trainer(world, options, collectives::plain_failure);
    trainer.run({});
    ADD_FAILURE() << "expected the run to diverge";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("update 2"));
    EXPECT_THAT(error.what(), HasSubstr("not finite"));
  }
}

}  // namespace
}  // namespace rubato::runtime
