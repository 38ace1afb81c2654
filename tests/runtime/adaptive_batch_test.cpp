// Whole adaptive runs. What they decide depends on the machine; that their decisions repeat them,
// bit for bit and on any number of ranks, does not.
#include "runtime/adaptive_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "data/errors.hpp"
#include "tests/runtime/resumed_run.hpp"

namespace rubato::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AdaptiveBatchTest : public testing::ResumedRunTest {
 protected:
  RunOptions adaptive_run() const {
    RunOptions options = testing::small_run();
    options.data.spec = "digits";
    options.adaptive = {.limits = {.initial_batch = 16,
                                   .max_batch_size = 300,
                                   .local_bounds = optim::LocalBounds{4, 50}},
                        .budget = 1e9};  // consider whenever one may
    options.rule = "adascale";
    options.epochs = 4;
    return options;
  }

  // The same run by its decisions.
  RunOptions replay_of(RunOptions options) const {
    options.trace_file = directory / "run" / "decisions.csv";
    options.reference_batch = static_cast<double>(options.adaptive->limits.initial_batch);
    options.adaptive.reset();
    options.output.reset();
    return options;
  }

  std::string decisions() const {
    std::ifstream file(directory / "run" / "decisions.csv");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::string header() { return std::string(BatchDecisions::header()) + "\n"; }

  // Of the run in `out`, on all ranks.
  std::string digest_on_disk() const {
    return world.broadcast(world.rank() == 0 ? digest_in_directory() : std::string(), 0);
  }

  void expect_replays_are_equal(const RunOptions& options, const std::string& label) {
    const std::string expected = digest_on_disk();
    for (std::size_t ranks = 1; ranks <= world.size(); ++ranks) {
      const auto some = world.split(world.rank() < ranks ? 1 : 0, 0);
      if (world.rank() < ranks) {
        EXPECT_EQ(testing::digest_of_run(some, replay_of(options)), expected)
            << label << ", on " << ranks << " ranks, of\n"
            << decisions();
      }
      world.barrier();
    }
  }

  class Listener final : public RunLog {
   public:
    void update(const StepReport& report) override { updates.push_back(report); }
    void decision(const DecisionReport& report) override { decisions.push_back(report); }
    std::vector<StepReport> updates;
    std::vector<DecisionReport> decisions;
  };

  void clear() {
    world.barrier();
    if (world.rank() == 0) fs::remove_all(directory / "run");
    world.barrier();
  }
};

TEST_F(AdaptiveBatchTest, ItsDecisionsRepeatItOnAnyNumberOfRanks) {
  for (const auto epoch_end : {data::EpochEnd::drop, data::EpochEnd::carry}) {
    for (const bool is_fixed : {false, true}) {
      RunOptions options = adaptive_run();
      options.epoch_end = epoch_end;
      if (is_fixed) options.adaptive->limits.fixed_minibatch = options.minibatch;
      go_on(options, std::min<std::size_t>(2, world.size()), std::nullopt);
      expect_replays_are_equal(options, to_string(epoch_end) + (is_fixed ? ", fixed" : ""));
      if (world.rank() == 0) {
        for (const auto trace = data::BatchTrace::from_csv(directory / "run" / "decisions.csv");
             const std::uint64_t row : {std::uint64_t{0}, trace.rows() - 1}) {
          EXPECT_LE(trace.row(row).batch_size, 300U);
          EXPECT_GE(trace.row(row).batch_size, 16U);
          EXPECT_LE(trace.row(row).minibatch, 50U);
        }
      }
      clear();
    }
  }
}

// The bounds leave other batches on other ranks, so the batch is chosen again at each start.
TEST_F(AdaptiveBatchTest, GoesOnOnOtherRanksAndIsStillRepeatedByItsDecisions) {
  for (const auto epoch_end : {data::EpochEnd::drop, data::EpochEnd::carry}) {
    RunOptions options = adaptive_run();
    options.epoch_end = epoch_end;
    options.adaptive->limits.local_bounds = optim::LocalBounds{30, 34};
    std::size_t ranks = 1;
    for (const std::uint64_t stop : {5U, 37U, 70U}) {
      go_on(options, ranks, stop);
      ranks = ranks % world.size() + 1;
    }
    go_on(options, ranks, std::nullopt);
    expect_replays_are_equal(options, to_string(epoch_end));
    if (world.rank() == 0 && world.size() > 2) {  // of two minibatches, one rank has two
      EXPECT_THAT(decisions(), HasSubstr(",3 ranks on "));
      EXPECT_THAT(decisions(), HasSubstr(" instead of 2 ranks on "));
    }
    clear();
  }
}

// Rank 0 chooses by what the optimizer knew on the ranks before.
TEST_F(AdaptiveBatchTest, GoesOnOnOtherRanksWithTheNoiseThatWasMeasured) {
  if (world.size() == 1) return;
  go_on(adaptive_run(), 1, 40);
  Listener listener;
  go_on(adaptive_run(), world.size(), 41, {&listener});
  if (world.rank() != 0) return;
  ASSERT_FALSE(listener.decisions.empty());
  EXPECT_EQ(listener.decisions[0].decision.update, 40U);
  EXPECT_GT(listener.decisions[0].decision.noise_scale, 0);
}

// Nothing was run with what was decided at the checkpoint: it is decided again in its place.
TEST_F(AdaptiveBatchTest, GoesOnOnOtherRanksFromWhereABatchWasDecided) {
  RunOptions options = adaptive_run();
  options.checkpoint_every = 1;
  options.kept_checkpoints = 1000;
  options.adaptive->limits.local_bounds = optim::LocalBounds{30, 34};
  go_on(options, 1, 40);
  if (world.rank() == 0) {
    for (const auto& entry : fs::directory_iterator(directory / "run" / "checkpoints")) {
      if (!entry.path().filename().string().starts_with("ckpt-0.")) fs::remove(entry);
    }
  }
  world.barrier();
  go_on(options, world.size(), std::nullopt);
  expect_replays_are_equal(options, "after 0");
}

// What was decided after the checkpoint is forgotten, and what was decided before is kept.
TEST_F(AdaptiveBatchTest, GoesOnFromAnEarlierCheckpoint) {
  RunOptions options = adaptive_run();
  options.checkpoint_every = 10;
  options.kept_checkpoints = 100;
  go_on(options, world.size(), std::nullopt);
  if (world.rank() == 0) {
    for (const auto& entry : fs::directory_iterator(directory / "run" / "checkpoints")) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("ckpt-40.") && !name.starts_with("ckpt-0.")) fs::remove(entry);
    }
  }
  const std::string before = decisions();
  const std::string kept = before.substr(0, before.find("\n32,") + 1);
  world.barrier();
  go_on(options, world.size(), std::nullopt);
  expect_replays_are_equal(options, "after 40");
  EXPECT_EQ(decisions().substr(0, kept.size()), kept);
}

TEST_F(AdaptiveBatchTest, ReportsWhatItConsidersAndWhatUpdatesAreWorth) {
  Listener listener;
  Trainer trainer(world, adaptive_run(), testing::explain);
  trainer.run({&listener});
  EXPECT_EQ(trainer.facts().reference_batch, 16);
  EXPECT_FALSE(trainer.facts().total_updates);
  if (world.rank() != 0) return;
  ASSERT_GE(listener.decisions.size(), 2U);
  const DecisionReport& last = listener.decisions.back();
  EXPECT_GT(last.decision.predicted_goodput, 0);
  EXPECT_GT(last.seconds, 0);
  for (const StepReport& report : listener.updates) EXPECT_GT(report.goodput, 0);
  EXPECT_EQ(listener.updates.back().predicted_goodput, last.decision.predicted_goodput);
  EXPECT_EQ(listener.updates.back().batch_size, last.decision.configuration.batch);
  EXPECT_EQ(listener.updates.back().minibatch, last.decision.configuration.minibatch);
}

// All noise and no gradient: the larger a batch, the better.
optim::GradientNoise all_noise() {
  optim::GradientNoise noise(16);
  noise.observe({.batch_size = 16, .minibatches = 2, .weighted_square = 1e6, .mean_square = 1e-6});
  return noise;
}

void observe_updates(AdaptiveBatch& adaptive, std::size_t ranks) {
  const data::TraceRow row = adaptive.trace().row(0);
  data::PlannedUpdate update;
  update.batch_size = row.batch_size;
  update.minibatch = row.minibatch;
  update.minibatches.resize((row.batch_size + row.minibatch - 1) / row.minibatch);
  StepReport report;
  report.gradient_variance = 1;
  report.seconds = 0.1;
  report.rank_times.assign(ranks, {0.05, 0.05, 1});
  for (int i = 0; i < 10; ++i) adaptive.observe(update, report);
  EXPECT_GT(report.goodput, 0);
}

TEST_F(AdaptiveBatchTest, ABatchThatDoesNotFitIntoTheEpochWaitsForItsEnd) {
  const collectives::Topology topology(world);
  const RunOptions options = adaptive_run();
  AdaptiveBatch adaptive(options, options.adaptive->limits, topology, 16);
  observe_updates(adaptive, world.size());
  const data::Cursor cursor{.update = 32, .row = 32, .epoch = 1, .position = 500};
  EXPECT_FALSE(adaptive.decide(cursor, 40, all_noise()));
  EXPECT_EQ(adaptive.trace().rows(), 1U);
  EXPECT_FALSE(
      adaptive.decide(cursor, 1000, all_noise()));  // no time has passed that a decision may cost
  observe_updates(adaptive, world.size());
  ASSERT_TRUE(adaptive.decide(cursor, 1000, all_noise()));
  const data::TraceRow row = adaptive.trace().row(1);
  EXPECT_EQ(row.update, 32U);
  EXPECT_EQ(row.epoch, 1U);
  EXPECT_GT(row.batch_size, adaptive.trace().row(0).batch_size);
  EXPECT_EQ(adaptive.take_report().has_value(), world.rank() == 0);
}

// On other ranks, where the old batch is not allowed, there is no time to wait.
TEST_F(AdaptiveBatchTest, ADecisionThatMustBeMadeMayEndTheEpoch) {
  const collectives::Topology topology(world);
  const RunOptions options = adaptive_run();
  Checkpoint checkpoint;
  checkpoint.state.cursor = {.update = 5, .row = 5, .epoch = 2, .position = 9};
  checkpoint.context = {{"profile", "1 99\n"},
                        {"decisions", header() + "0,7,7,0,1,1,99,,,,initial\n"}};
  for (const std::uint64_t room : {3U, 300U}) {
    AdaptiveBatch adaptive(options, options.adaptive->limits, topology, 16);
    EXPECT_FALSE(adaptive.needs_decision());
    adaptive.restore(checkpoint);
    EXPECT_TRUE(adaptive.needs_decision());
    EXPECT_TRUE(
        adaptive.decide({.update = 5, .row = 5, .epoch = 2, .position = 9}, room, all_noise()));
    EXPECT_FALSE(adaptive.needs_decision());
    EXPECT_EQ(adaptive.trace().row(1).epoch, room == 3 ? 3U : 2U);
    EXPECT_THAT(adaptive.decisions(), HasSubstr(" instead of 99 ranks on 1 host\n"));
  }
}

// What was decided at the checkpoint, for other ranks, has held for no update.
TEST_F(AdaptiveBatchTest, ADecisionThatMustBeMadeTakesThePlaceOfOneMadeThere) {
  const collectives::Topology topology(world);
  const RunOptions options = adaptive_run();
  const std::string first = header() + "0,7,7,0,1,1,99,,,,initial\n";
  Checkpoint checkpoint;
  checkpoint.state.cursor = {.update = 5, .row = 5, .epoch = 2, .position = 9};
  checkpoint.context = {{"profile", "1 99\n"}, {"decisions", first + "5,9,9,2,1,1,99,,,,better\n"}};
  AdaptiveBatch adaptive(options, options.adaptive->limits, topology, 16);
  const std::string initial = adaptive.decisions();
  adaptive.restore(checkpoint);
  EXPECT_EQ(adaptive.decisions(), first);
  EXPECT_TRUE(adaptive.decide(checkpoint.state.cursor, 300, all_noise()));
  EXPECT_EQ(adaptive.trace().row(1).update, 5U);

  checkpoint.state.cursor = {};
  AdaptiveBatch from_beginning(options, options.adaptive->limits, topology, 16);
  from_beginning.restore(checkpoint);
  EXPECT_EQ(from_beginning.decisions(), initial);
  EXPECT_FALSE(from_beginning.decide({}, std::nullopt, all_noise()));

  checkpoint.context[0].value =
      std::to_string(topology.node_count()) + " " + std::to_string(world.size()) + "\n";
  AdaptiveBatch elsewhere(options, options.adaptive->limits, topology, 16);
  elsewhere.restore(checkpoint);
  EXPECT_FALSE(elsewhere.needs_decision());
  EXPECT_EQ(elsewhere.decisions(), checkpoint.context[1].value);
}

// A long history does not fit into one attribute of a file.
TEST_F(AdaptiveBatchTest, KeepsALongHistoryInPieces) {
  const collectives::Topology topology(world);
  const RunOptions options = adaptive_run();
  std::string text = header();
  for (int i = 0; i < 9000; ++i) text += std::to_string(i) + ",16,8,0,1,1,1,,,,x\n";
  Checkpoint checkpoint;
  for (std::size_t i = 0; i * 60000 < text.size(); ++i) {
    const std::string name = i == 0 ? "decisions" : "decisions " + std::to_string(i + 1);
    checkpoint.context.push_back({name, text.substr(i * 60000, 60000)});
  }
  AdaptiveBatch adaptive(options, options.adaptive->limits, topology, 16);
  adaptive.restore(checkpoint);
  EXPECT_EQ(adaptive.decisions(), text);
  checkpoint.context = adaptive.entries();
  EXPECT_GT(checkpoint.context.size(), 5U);
  const Checkpoint read = decode_checkpoint(encode_checkpoint(checkpoint), "here");
  AdaptiveBatch again(options, options.adaptive->limits, topology, 16);
  again.restore(read);
  EXPECT_EQ(again.decisions(), text);
  EXPECT_THROW(again.restore(Checkpoint()), data::ContentError);
}

TEST_F(AdaptiveBatchTest, RefusesLimitsThatTheseRanksOrThisDataSetCannotMeet) {
  RunOptions options = adaptive_run();
  options.adaptive->limits = {.initial_batch = 16,
                              .max_batch_size = 100 * world.size() - 1,
                              .local_bounds = optim::LocalBounds{100, 200}};
  EXPECT_THAT(refusal(options, std::nullopt), HasSubstr("--adaptive: minibatches of at least 100"));
  options.adaptive->limits = {.initial_batch = 2000, .max_batch_size = 3000};
  EXPECT_EQ(refusal(options, std::nullopt),
            "--adaptive: the initial batch is 2000, expected at most the 1438 samples of the data "
            "set; choose a smaller one, or --epoch-end carry");
}

}  // namespace
}  // namespace rubato::runtime
