// What becomes of decisions, without a run: when they wait, when they must not, and what
// checkpoints keep of them. Whole runs are in adaptive_run_test.cpp.
#include "runtime/adaptive_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "collectives/communicator.hpp"
#include "data/errors.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class AdaptiveBatchTest : public testing::Test {
 protected:
  static RunOptions adaptive_options() {
    RunOptions options;
    options.adaptive = {.limits = {.initial_batch = 16,
                                   .max_batch_size = 300,
                                   .local_bounds = optim::LocalBounds{4, 50}},
                        .budget = 1e9};  // consider whenever one may
    return options;
  }
  AdaptiveBatch begun() const { return {options, options.adaptive->limits, topology, 16}; }

  static std::string header() { return std::string(BatchDecisions::header()) + "\n"; }

  collectives::Communicator world = collectives::Communicator::world();
  collectives::Topology topology{world};
  RunOptions options = adaptive_options();
};

// All noise and no gradient: the larger a batch, the better.
optim::GradientNoise all_noise() {
  optim::GradientNoise noise(16);
  noise.observe({.batch_size = 16, .minibatches = 2, .weighted_square = 1e6, .mean_square = 1e-6});
  return noise;
}

void observe_updates(
    AdaptiveBatch& adaptive, std::size_t ranks, int count = 10,
    const std::function<void(StepReport&)>& change = [](StepReport&) {}) {
  const data::TraceRow row = adaptive.trace().row(0);
  data::PlannedUpdate update;
  update.batch_size = row.batch_size;
  update.minibatch = row.minibatch;
  update.minibatches.resize((row.batch_size + row.minibatch - 1) / row.minibatch);
  StepReport report;
  report.gradient_variance = 1;
  report.seconds = 0.1;
  report.rank_times.assign(ranks, {0.05, 0.05, 1});
  change(report);
  for (int i = 0; i < count; ++i) adaptive.observe(update, report);
  EXPECT_GT(report.goodput, 0);
}

TEST_F(AdaptiveBatchTest, ABatchThatDoesNotFitIntoTheEpochWaitsForItsEnd) {
  AdaptiveBatch adaptive = begun();
  observe_updates(adaptive, world.size());
  const data::Cursor cursor{.update = 32, .row = 32, .epoch = 1, .position = 500};
  EXPECT_FALSE(adaptive.decide(cursor, 40, all_noise()));
  EXPECT_EQ(adaptive.trace().rows(), 1U);
  // No time has passed that a decision may cost.
  EXPECT_FALSE(adaptive.decide(cursor, 1000, all_noise()));
  observe_updates(adaptive, world.size());
  ASSERT_TRUE(adaptive.decide(cursor, 1000, all_noise()));
  const data::TraceRow row = adaptive.trace().row(1);
  EXPECT_EQ(row.update, 32U);
  EXPECT_EQ(row.epoch, 1U);
  EXPECT_GT(row.batch_size, adaptive.trace().row(0).batch_size);
  EXPECT_EQ(adaptive.take_report().has_value(), world.rank() == 0);
}

// A minibatch takes as long as its samples ask for: there is nothing to be saved.
TEST_F(AdaptiveBatchTest, KeepsABatchWhereATrialSaysThatNoOtherPays) {
  AdaptiveBatch adaptive = begun();
  std::vector<std::uint64_t> tried;
  const double substep = 0.05;
  const auto minibatch = static_cast<double>(adaptive.trace().row(0).minibatch);
  adaptive.try_minibatches([&](std::uint64_t samples) {
    tried.push_back(samples);
    return substep * static_cast<double>(samples) / minibatch;
  });
  EXPECT_EQ(tried[0], adaptive.trace().row(0).minibatch);
  EXPECT_EQ(tried[1], std::min<std::uint64_t>(4 * tried[0], 50));
  observe_updates(adaptive, world.size(), 10,
                  [&](StepReport& report) { report.seconds = substep * 1.01; });
  EXPECT_FALSE(adaptive.decide({.update = 32}, std::nullopt, all_noise()));
}

// A reader of the row, and one of the metrics.
TEST_F(AdaptiveBatchTest, ADecisionTellsWhatElseHappenedThere) {
  AdaptiveBatch adaptive = begun();
  observe_updates(adaptive, world.size());
  const data::Cursor cursor{.update = 32, .row = 32, .epoch = 1, .position = 500};
  ASSERT_TRUE(adaptive.decide(cursor, 1000, all_noise(), statistical_epoch_ended));
  EXPECT_TRUE(adaptive.decisions().ends_with(" % better; a statistical epoch ended\n"));
  const auto report = adaptive.take_report();
  ASSERT_EQ(report.has_value(), world.rank() == 0);
  if (report) {
    EXPECT_TRUE(adaptive.decisions().ends_with(line_of(report->decision) + "\n"));
  }
}

// At a reference batch of 32 the variance is half of that at the initial batch, 16: of 64 samples,
// each is worth (2 + 1) / (2 + 4) of one of 16.
TEST_F(AdaptiveBatchTest, GoodputRefersToTheInitialBatch) {
  AdaptiveBatch adaptive(options, options.adaptive->limits, topology, 32);
  data::PlannedUpdate update;
  update.batch_size = 64;
  StepReport report;
  report.gradient_variance = 1;
  report.gradient_square = 1;
  report.seconds = 0.5;
  adaptive.observe(update, report);
  EXPECT_DOUBLE_EQ(report.goodput, 0.5 * 64 / 0.5);
}

// Data that come late, a sum made twice, an update left out: none takes as long as others.
TEST_F(AdaptiveBatchTest, LearnsOnlyFromUpdatesLikeOthers) {
  AdaptiveBatch adaptive = begun();
  const auto updates_known = [&] {
    const std::string profile = adaptive.entries()[0].value;
    return profile.substr(profile.find_last_of(" \n", profile.size() - 2) + 1);
  };
  observe_updates(adaptive, world.size());
  EXPECT_EQ(updates_known(), "9\n");
  observe_updates(adaptive, world.size(), 1,
                  [](StepReport& report) { report.was_repeated = true; });
  observe_updates(adaptive, world.size(), 1, [](StepReport& report) { report.skipped = "NaN"; });
  EXPECT_EQ(updates_known(), "9\n");
  EXPECT_FALSE(adaptive.decide({.update = 32, .row = 32}, 3, all_noise()));
  observe_updates(adaptive, world.size(), 1);
  EXPECT_EQ(updates_known(), "9\n");
  observe_updates(adaptive, world.size(), 1);
  EXPECT_EQ(updates_known(), "10\n");
}

// Where each update ends an epoch, most of them are still measured, with their data in time.
TEST_F(AdaptiveBatchTest, ShortEpochsAreNotAllDecidedAfter) {
  AdaptiveBatch adaptive = begun();
  data::PlannedUpdate update;
  update.ends_epoch = true;
  for (std::uint64_t done = 1; done <= 7; ++done) {
    update.end.update = done;
    EXPECT_FALSE(adaptive.is_decision_due(update));
    StepReport report;
    adaptive.observe(update, report);
  }
  update.end.update = 8;
  EXPECT_TRUE(adaptive.is_decision_due(update));
  adaptive.decide({.update = 8, .row = 8, .epoch = 8}, std::nullopt, all_noise());
  EXPECT_FALSE(adaptive.is_decision_due(update));
  update.end.update = 31;
  EXPECT_FALSE(adaptive.is_decision_due(update));
  for (const bool ends_epoch : {false, true}) {
    update.ends_epoch = ends_epoch;
    update.end.update = 32;
    EXPECT_TRUE(adaptive.is_decision_due(update));
    update.end.update = 33;
    EXPECT_FALSE(adaptive.is_decision_due(update));
  }
}

// On other ranks, where the old batch is not allowed, there is no time to wait.
TEST_F(AdaptiveBatchTest, ADecisionThatMustBeMadeMayEndTheEpoch) {
  Checkpoint checkpoint;
  checkpoint.state.cursor = {.update = 5, .row = 5, .epoch = 2, .position = 9};
  checkpoint.context = {{"profile", "1 99\n"},
                        {"decisions", header() + "0,7,7,0,1,1,99,,,,initial\n"}};
  for (const std::uint64_t room : {3U, 300U}) {
    AdaptiveBatch adaptive = begun();
    EXPECT_FALSE(adaptive.needs_decision());
    adaptive.restore(checkpoint);
    EXPECT_TRUE(adaptive.needs_decision());
    EXPECT_TRUE(adaptive.decide(checkpoint.state.cursor, room, all_noise()));
    EXPECT_FALSE(adaptive.needs_decision());
    EXPECT_EQ(adaptive.trace().row(1).epoch, room == 3 ? 3U : 2U);
    EXPECT_THAT(adaptive.decisions(), HasSubstr(" instead of 99 ranks on 1 host\n"));
  }
}

// A checkpoint written before the decision says so.
TEST_F(AdaptiveBatchTest, ADecisionThatMustBeMadeIsNotForgotten) {
  Checkpoint checkpoint;
  checkpoint.state.cursor = {.update = 5, .row = 5, .epoch = 2, .position = 9};
  checkpoint.context = {{"profile", "1 99\n"},
                        {"decisions", header() + "0,7,7,0,1,1,99,,,,initial\n"}};
  for (int times = 0; times < 3; ++times) {
    AdaptiveBatch adaptive = begun();
    adaptive.restore(checkpoint);
    EXPECT_TRUE(adaptive.needs_decision()) << times;
    checkpoint.context = adaptive.entries();
  }
  AdaptiveBatch adaptive = begun();
  adaptive.restore(checkpoint);
  EXPECT_TRUE(adaptive.decide(checkpoint.state.cursor, 300, all_noise()));
  checkpoint.context = adaptive.entries();
  checkpoint.state.cursor.update = 6;
  AdaptiveBatch later = begun();
  later.restore(checkpoint);
  EXPECT_FALSE(later.needs_decision());
}

// On as many ranks, but within other limits.
TEST_F(AdaptiveBatchTest, ABatchBeyondTheLimitsIsDecidedAnew) {
  Checkpoint checkpoint;
  checkpoint.state.cursor = {.update = 5, .row = 5, .epoch = 2, .position = 9};
  const std::string ranks = std::to_string(world.size());
  const std::string row = "0,5000,50,0,1,1," + ranks + ",,,,initial\n";
  checkpoint.context = {{"profile", "1 " + ranks + "\n"}, {"decisions", header() + row}};
  AdaptiveBatch adaptive = begun();
  adaptive.restore(checkpoint);
  EXPECT_TRUE(adaptive.needs_decision());
  EXPECT_TRUE(adaptive.decide(checkpoint.state.cursor, 1000, all_noise()));
  EXPECT_LE(adaptive.trace().row(1).batch_size, 300U);
  EXPECT_THAT(adaptive.decisions(), HasSubstr(",other limits\n"));
}

// What was decided at the checkpoint, for other ranks, has held for no update.
TEST_F(AdaptiveBatchTest, ADecisionThatMustBeMadeTakesThePlaceOfOneMadeThere) {
  const std::string first = header() + "0,7,7,0,1,1,99,,,,initial\n";
  Checkpoint checkpoint;
  checkpoint.state.cursor = {.update = 5, .row = 5, .epoch = 2, .position = 9};
  checkpoint.context = {{"profile", "1 99\n"},
                        {"decisions", first + "5,150,10,2,1,1,99,,,,better\n"}};
  AdaptiveBatch adaptive = begun();
  const std::string initial = adaptive.decisions();
  adaptive.restore(checkpoint);
  EXPECT_EQ(adaptive.decisions(), first);
  EXPECT_TRUE(adaptive.decide(checkpoint.state.cursor, 300, all_noise()));
  EXPECT_EQ(adaptive.trace().row(1).update, 5U);

  checkpoint.state.cursor = {};
  AdaptiveBatch from_beginning = begun();
  from_beginning.restore(checkpoint);
  EXPECT_EQ(from_beginning.decisions(), initial);
  EXPECT_FALSE(from_beginning.decide({}, std::nullopt, all_noise()));

  checkpoint.context[0].value =
      std::to_string(topology.node_count()) + " " + std::to_string(world.size()) + "\n";
  AdaptiveBatch on_the_same_ranks = begun();
  on_the_same_ranks.restore(checkpoint);
  EXPECT_FALSE(on_the_same_ranks.needs_decision());
  EXPECT_EQ(on_the_same_ranks.decisions(), checkpoint.context[1].value);
}

// The profile that a checkpoint holds is not that of the last decision.
TEST_F(AdaptiveBatchTest, KeepsTheTimesSinceTheLastDecision) {
  AdaptiveBatch adaptive = begun();
  observe_updates(adaptive, world.size());
  const std::string profile = adaptive.entries()[0].value;
  EXPECT_EQ(std::ranges::count(profile, '\n'), 2) << profile;
  EXPECT_TRUE(profile.ends_with(" 9\n")) << profile;  // updates: all but the first
  EXPECT_EQ(adaptive.entries()[0].value, profile);
}

// A long history does not fit into one attribute of a file.
TEST_F(AdaptiveBatchTest, KeepsALongHistoryInPieces) {
  std::string text = header();
  for (int i = 0; i < 9000; ++i) text += std::to_string(i) + ",40,8,0,1,1,1,,,,x\n";
  Checkpoint checkpoint;
  for (std::size_t i = 0; i * 60000 < text.size(); ++i) {
    const std::string name = i == 0 ? "decisions" : "decisions " + std::to_string(i + 1);
    checkpoint.context.push_back({name, text.substr(i * 60000, 60000)});
  }
  AdaptiveBatch adaptive = begun();
  adaptive.restore(checkpoint);
  EXPECT_EQ(adaptive.decisions(), text);
  checkpoint.context = adaptive.entries();
  EXPECT_GT(checkpoint.context.size(), 5U);
  const Checkpoint read = decode_checkpoint(encode_checkpoint(checkpoint), "here");
  AdaptiveBatch again = begun();
  again.restore(read);
  EXPECT_EQ(again.decisions(), text);
  EXPECT_THROW(again.restore(Checkpoint()), data::ContentError);
}

}  // namespace
}  // namespace rubato::runtime
