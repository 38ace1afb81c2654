// Whole adaptive runs. What they decide depends on the machine; that their decisions repeat them,
// bit for bit and on any number of ranks, does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/batch_decisions.hpp"
#include "tests/runtime/resumed_run.hpp"

namespace rubato::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class AdaptiveRunTest : public ResumedRunTest {
 protected:
  RunOptions adaptive_run(std::uint64_t max_batch_size = 300) const {
    RunOptions options = small_run();
    options.data.spec = "digits";
    options.adaptive = {.limits = {.initial_batch = 16,
                                   .max_batch_size = max_batch_size,
                                   .local_bounds = optim::LocalBounds{4, 50}},
                        .budget = 1e9};  // consider whenever one may
    options.rule = "adascale";
    options.epochs = 4;
    return options;
  }

  // Its batch has 34 samples for each rank: on one rank 44 of the 1438 are left after 41 updates,
  // too few for two.
  RunOptions run_of_34_for_each_rank(std::uint64_t epochs) const {
    RunOptions options = adaptive_run();
    options.adaptive->limits.local_bounds = optim::LocalBounds{34, 34};
    options.adaptive->limits.has_accumulation = false;
    options.epochs = epochs;
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

  std::ptrdiff_t epochs_in_metrics() const {
    std::ifstream file(directory / "run" / "metrics.jsonl");
    std::ptrdiff_t epochs = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(R"({"type":"epoch")")) ++epochs;
    }
    return epochs;
  }

  // How often other ranks made it decide.
  std::size_t moves() const {
    const std::string text = decisions();
    std::size_t count = 0;
    for (std::size_t i = 0; (i = text.find(" instead of ", i)) != std::string::npos; ++i) ++count;
    return count;
  }

  // Of the run in `out`, on all ranks.
  std::string digest_on_disk() const {
    return world.broadcast(world.rank() == 0 ? digest_in_directory() : std::string(), 0);
  }

  void expect_replays_are_equal(const RunOptions& options, const std::string& label) {
    const std::string expected = digest_on_disk();
    for (std::size_t ranks = 1; ranks <= world.size(); ++ranks) {
      const auto some = world.split(world.rank() < ranks ? 1 : 0, 0);
      if (world.rank() < ranks) {
        EXPECT_EQ(digest_of_run(some, replay_of(options)), expected)
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
    void evaluation(const EvaluationReport& report) override { evaluations.push_back(report); }
    std::vector<StepReport> updates;
    std::vector<DecisionReport> decisions;
    std::vector<EvaluationReport> evaluations;
  };

  void clear() {
    world.barrier();
    if (world.rank() == 0) fs::remove_all(directory / "run");
    world.barrier();
  }
};

TEST_F(AdaptiveRunTest, ItsDecisionsRepeatItOnAnyNumberOfRanks) {
  for (const auto epoch_end : {data::EpochEnd::drop, data::EpochEnd::carry}) {
    for (const bool is_fixed : {false, true}) {
      RunOptions options = adaptive_run();
      options.epoch_end = epoch_end;
      if (is_fixed) options.adaptive->limits.fixed_minibatch = options.minibatch;
      Listener listener;
      go_on(options, std::min<std::size_t>(2, world.size()), std::nullopt, {&listener});
      expect_replays_are_equal(options, to_string(epoch_end) + (is_fixed ? ", fixed" : ""));
      if (world.rank() == 0) {
        for (const auto trace = data::BatchTrace::from_csv(directory / "run" / "decisions.csv");
             const std::uint64_t row : {std::uint64_t{0}, trace.rows() - 1}) {
          EXPECT_LE(trace.row(row).batch_size, 300U);
          EXPECT_GE(trace.row(row).batch_size, 16U);
          EXPECT_LE(trace.row(row).minibatch, 50U);
        }
        const auto changes = std::ranges::count(listener.decisions, true, &DecisionReport::changes);
        EXPECT_EQ(std::ranges::count(decisions(), '\n'), 2 + changes);
      }
      clear();
    }
  }
}

// Without accumulation, the bounds leave other batches on other ranks: it is chosen anew each time.
TEST_F(AdaptiveRunTest, GoesOnOnOtherRanksAndIsStillRepeatedByItsDecisions) {
  for (const auto epoch_end : {data::EpochEnd::drop, data::EpochEnd::carry}) {
    for (const bool accumulates : {false, true}) {
      RunOptions options = adaptive_run();
      options.epoch_end = epoch_end;
      options.adaptive->limits.local_bounds = optim::LocalBounds{30, 34};
      options.adaptive->limits.has_accumulation = accumulates;
      std::size_t ranks = 1;
      for (const std::uint64_t stop : {5U, 37U, 48U}) {
        const RunEnd end = go_on(options, ranks, stop);
        EXPECT_TRUE(end.was_stopped || accumulates || world.rank() >= ranks);
        ranks = ranks % world.size() + 1;
      }
      go_on(options, ranks, std::nullopt);
      expect_replays_are_equal(options, to_string(epoch_end) + (accumulates ? ", cut" : ""));
      if (world.rank() == 0 && !accumulates) {
        EXPECT_EQ(moves(), world.size() > 1 ? 3U : 0U);
      }
      clear();
    }
  }
}

// Rank 0 chooses by what the optimizer knew on the ranks before. Of the epoch 126 samples are left,
// or more: where too few are left for what it chooses, it decides nothing.
TEST_F(AdaptiveRunTest, GoesOnOnOtherRanksWithTheNoiseThatWasMeasured) {
  if (world.size() == 1) return;
  const RunOptions options = adaptive_run(100);
  go_on(options, 1, 40);
  Listener listener;
  go_on(options, world.size(), 41, {&listener});
  if (world.rank() != 0) return;
  ASSERT_FALSE(listener.decisions.empty());
  EXPECT_EQ(listener.decisions[0].decision.update, 40U);
  EXPECT_GT(listener.decisions[0].decision.noise_scale, 0);
}

TEST_F(AdaptiveRunTest, EndsOnOtherRanksWhereItsReplayDoes) {
  if (world.size() == 1) return;
  const RunOptions options = run_of_34_for_each_rank(1);
  Listener listener;
  EXPECT_TRUE(go_on(options, 1, 41, {&listener}).was_stopped || world.rank() > 0);
  EXPECT_TRUE(listener.evaluations.empty());
  EXPECT_EQ(go_on(options, world.size(), std::nullopt, {&listener}).updates, 41U);
  expect_replays_are_equal(options, "ended by ranks");
  EXPECT_EQ(epochs_in_metrics(), 1);
  if (world.rank() == 0) {
    EXPECT_EQ(listener.evaluations.size(), 1U);
  }
}

// The epoch was ended by a decision that held for no update: on yet other ranks it stays ended.
TEST_F(AdaptiveRunTest, GoesOnOnThirdRanksAfterAnEpochThatOthersHaveEnded) {
  if (world.size() == 1) return;
  const RunOptions options = run_of_34_for_each_rank(2);
  go_on(options, 1, 41);
  EXPECT_EQ(go_on(options, world.size(), 41).updates, 41U);
  for (const std::size_t third : {world.size() - 1, std::size_t{1}}) {
    EXPECT_EQ(go_on(options, third, 45).updates, world.rank() < third ? 45U : 0U);
  }
  go_on(options, world.size(), std::nullopt);
  expect_replays_are_equal(options, "third ranks");
  EXPECT_EQ(epochs_in_metrics(), 2);
}

// The replay's first batch is larger than the initial one, by which the run's schedule counts.
TEST_F(AdaptiveRunTest, AScheduleThatCountsAnEpochsUpdatesIsRepeated) {
  RunOptions options = adaptive_run();
  options.adaptive->limits.local_bounds = optim::LocalBounds{20, 50};
  options.epochs = 3;
  options.schedule.name = "polynomial";
  options.schedule.polynomial_form = optim::PolynomialForm::study;
  options.schedule.warmup_span = 1;
  options.schedule.span = 2;
  go_on(options, world.size(), std::nullopt);
  expect_replays_are_equal(options, "study's form");
}

// Nothing was run with what was decided at the checkpoint: it is decided again in its place.
TEST_F(AdaptiveRunTest, GoesOnOnOtherRanksFromWhereABatchWasDecided) {
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
TEST_F(AdaptiveRunTest, GoesOnFromAnEarlierCheckpoint) {
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

TEST_F(AdaptiveRunTest, ReportsWhatItConsidersAndWhatUpdatesAreWorth) {
  Listener listener;
  Trainer trainer(world, adaptive_run(), collectives::plain_failure);
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

TEST_F(AdaptiveRunTest, TriesMinibatchesBeforeItsFirstUpdate) {
  RunOptions options = adaptive_run();
  int ticks = 0;
  options.substep_clock = [&ticks] { return 1e-3 * ++ticks; };
  const Trainer trainer(world, options, collectives::plain_failure);
  EXPECT_EQ(ticks, 2 * 2 * 6);  // beginning and end of each: two sizes, six times
}

TEST_F(AdaptiveRunTest, RefusesToGoOnWithARunOfAnotherKind) {
  RunOptions constant = adaptive_run();
  constant.adaptive.reset();
  go_on(constant, world.size(), 3);
  EXPECT_THAT(refusal(adaptive_run(), std::nullopt), HasSubstr("the trace differs"));
  clear();
  go_on(adaptive_run(), world.size(), 3);
  EXPECT_THAT(refusal(constant, std::nullopt), HasSubstr("the trace differs"));
}

TEST_F(AdaptiveRunTest, RefusesLimitsThatTheseRanksOrThisDataSetCannotMeet) {
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
