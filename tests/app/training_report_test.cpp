// Rows to the letter: columns must line up whatever stands in them.
#include "app/training_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

runtime::RunFacts facts(std::uint64_t test_samples) {
  runtime::RunFacts facts;
  facts.context = {{"version", "1.2.3"}};
  facts.model = "mlp:64";
  facts.parameters = 4810;
  facts.training_samples = 1438;
  facts.test_samples = test_samples;
  facts.ranks = 2;
  facts.reference_batch = 32;
  return facts;
}

// Update `number` ends a quarter of an epoch after the one before and takes half a second for its
// 100 samples.
runtime::StepReport step(std::uint64_t number) {
  runtime::StepReport report;
  report.update = number;
  report.epochs_done = 0.25 * static_cast<double>(number);
  report.batch_size = 100;
  report.samples = 100 * number;
  report.learning_rate = 0.1 + 0.2;
  report.gain = 1.5;
  report.scaled_updates = 1.5 * static_cast<double>(number);
  report.loss = 0.75;
  report.accuracy = 0.5;
  report.seconds = 0.5;
  return report;
}

runtime::EvaluationReport evaluation(std::uint64_t update) {
  return {.update = update,
          .epoch = 0.25 * static_cast<double>(update),
          .progress = 1.5 * static_cast<double>(update),
          .loss = 0.5,
          .accuracy = 0.9625,
          .samples = 359,
          .seconds = 1};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Table {
  explicit Table(std::optional<std::uint64_t> log_every = std::nullopt)
      : table(out, log_every, [this] { ++cleared; }) {}
  std::vector<std::string> lines() const { return lines_of(out.str()); }
  std::ostringstream out;
  int cleared = 0;
  TrainingTable table;
};

TEST(TrainingTable, HasARowForEachEvaluation) {
  Table log;
  log.table.begin(facts(359));
  for (std::uint64_t number = 1; number <= 4; ++number) log.table.update(step(number));
  log.table.evaluation(evaluation(4));
  log.table.end({.reason = "done",
                 .updates = 4,
                 .seconds = 2,
                 .samples_per_second = 200,
                 .waiting_share = 0.1234});
  const std::vector<std::string> expected{
      "mlp:64, 4810 parameters; 1438 training samples, 359 test samples; reference batch 32; "
      "2 ranks",
      "   update   epoch   batch        lr     gain   progress      loss  test loss  accuracy"
      "  samples/s",
      "        4    1.00     100       0.3    1.500        6.0    0.7500     0.5000   96.25 %"
      "        200",
      "done: 4 updates in 2.00 s, 200 samples/s, waiting 12.3 %"};
  EXPECT_EQ(log.lines(), expected);
  EXPECT_EQ(log.cleared, 2);  // once for the row, once for the last line
}

TEST(TrainingTable, HasARowForEveryNthUpdate) {
  Table log(2);
  log.table.begin(facts(359));
  for (std::uint64_t number = 1; number <= 5; ++number) log.table.update(step(number));
  log.table.evaluation(evaluation(5));
  const auto lines = log.lines();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[2], StartsWith("        2    0.50 "));
  EXPECT_THAT(lines[3], StartsWith("        5    1.25 "));  // the 4th ends an epoch: see below
  for (const auto& line : lines) {
    if (line != lines[0]) {
      EXPECT_EQ(line.size(), lines[1].size()) << line;
    }
  }
}

TEST(TrainingTable, LeavesTheRowOfAnUpdateThatIsEvaluatedToTheEvaluation) {
  Table log(1);
  auto run = facts(359);
  run.total_updates = 6;
  log.table.begin(run);
  for (std::uint64_t number = 1; number <= 6; ++number) {
    log.table.update(step(number));
    if (number == 4 || number == 6) log.table.evaluation(evaluation(number));
  }
  const auto lines = log.lines();
  ASSERT_EQ(lines.size(), 8U);
  for (std::size_t number = 1; number <= 6; ++number) {
    EXPECT_THAT(lines[number + 1], StartsWith("        " + std::to_string(number) + " "));
  }
}

TEST(TrainingTable, HasARowForEachEpochWhereNothingTests) {
  Table log;
  auto run = facts(0);
  run.total_updates = 9;
  log.table.begin(run);
  for (std::uint64_t number = 1; number <= 9; ++number) log.table.update(step(number));
  const auto lines = log.lines();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[2], StartsWith("        4    1.00 "));
  EXPECT_THAT(lines[3], StartsWith("        8    2.00 "));
  EXPECT_THAT(lines[4], StartsWith("        9    2.25 "));
}

TEST(TrainingTable, ShowsTheSpeedSinceTheRowBeforeWithoutTheFirstUpdate) {
  Table log(1);
  log.table.begin(facts(0));
  auto slow = step(1);
  slow.seconds = 50;
  log.table.update(slow);
  log.table.update(step(2));
  auto fast = step(3);
  fast.seconds = 0.25;
  log.table.update(fast);
  const auto lines = log.lines();
  EXPECT_THAT(lines[2], testing::EndsWith(" -"));
  EXPECT_THAT(lines[3], testing::EndsWith(" 200"));
  EXPECT_THAT(lines[4], testing::EndsWith(" 400"));
}

TEST(TrainingTable, LeavesTestColumnsOutWhereNothingTests) {
  Table log(1);
  log.table.begin(facts(0));
  log.table.update(step(1));
  EXPECT_THAT(log.lines()[0], HasSubstr("1438 training samples, no test set;"));
  EXPECT_EQ(log.lines()[1],
            "   update   epoch   batch        lr     gain   progress      loss  samples/s");
  EXPECT_EQ(log.lines()[1].size(), log.lines()[2].size());
}

TEST(TrainingTable, KeepsItsColumnsWhenTrainingDiverges) {
  Table log(1);
  log.table.begin(facts(359));
  auto report = step(1);
  report.loss = 2.10668e33;
  report.gain = 123456;
  report.scaled_updates = 1e15;
  log.table.update(report);
  auto bad = evaluation(1);
  bad.loss = std::numeric_limits<double>::quiet_NaN();
  log.table.evaluation(bad);
  EXPECT_EQ(log.lines()[2],
            "        1    0.25     100       0.3 1.23e+05      1e+15  2.11e+33"
            "                               -");
  EXPECT_EQ(log.lines()[3].size(), log.lines()[1].size());
  EXPECT_THAT(log.lines()[3], HasSubstr("        nan   96.25 %"));
}

TEST(TrainingTable, CountsOneUpdateInTheSingular) {
  Table log;
  log.table.end({.reason = "progress reached", .updates = 1, .seconds = 0.004});
  EXPECT_THAT(log.out.str(), StartsWith("progress reached: 1 update in 0.00 s, "));
}

TEST(TrainingTable, NamesTheRankThatTheOthersWaitedFor) {
  Table log;
  log.table.begin(facts(0));
  log.table.end({.reason = "done", .updates = 4, .slow_rank = {{1, "node7", 2.04}}});
  EXPECT_EQ(log.lines().back(),
            "rank 1 on node7 is slow: a minibatch takes it 2.0 times as long as the others "
            "(median)");
}

TEST(TrainingTable, SaysNothingOfWaitingWhereOneRankTrains) {
  Table log;
  auto alone = facts(0);
  alone.ranks = 1;
  log.table.begin(alone);
  log.table.end({.reason = "done", .updates = 4});
  EXPECT_THAT(log.lines().back(), testing::EndsWith(" samples/s"));
}

nlohmann::json document(std::optional<std::uint64_t> log_every) {
  std::ostringstream out;
  TrainingJson json(out, log_every, [] {});
  json.begin(facts(359));
  for (std::uint64_t number = 1; number <= 4; ++number) json.update(step(number));
  json.evaluation(evaluation(4));
  EXPECT_EQ(out.str(), "");  // nothing before the end
  json.end({.reason = "done",
            .updates = 4,
            .seconds = 2,
            .samples_per_second = 200,
            .waiting_share = 0.25,
            .waiting_seconds = {1, 0},
            .slow_rank = {{1, "node7", 2.5}}});
  return nlohmann::json::parse(out.str());
}

TEST(TrainingJson, IsOneDocumentOfTheSameFacts) {
  const auto run = document(std::nullopt);
  EXPECT_EQ(run["context"]["version"], "1.2.3");
  EXPECT_EQ(run["ranks"], 2);
  EXPECT_EQ(run["parameters"], 4810);
  EXPECT_EQ(run["test_samples"], 359);
  ASSERT_EQ(run["evaluations"].size(), 1U);
  EXPECT_EQ(run["evaluations"][0], (nlohmann::json{{"update", 4},
                                                   {"epoch", 1.0},
                                                   {"scaled_updates", 6.0},
                                                   {"batch_size", 100},
                                                   {"lr", 0.1 + 0.2},
                                                   {"gain", 1.5},
                                                   {"loss", 0.5},
                                                   {"accuracy", 0.9625}}));
  EXPECT_EQ(run["end"]["reason"], "done");
  EXPECT_EQ(run["end"]["samples_per_second"], 200);
  EXPECT_EQ(run["end"]["waiting_share"], 0.25);
  EXPECT_EQ(run["end"]["waiting_seconds"], (nlohmann::json{1.0, 0.0}));
  EXPECT_EQ(run["end"]["slow_rank"],
            (nlohmann::json{{"rank", 1}, {"host", "node7"}, {"ratio", 2.5}}));
  EXPECT_FALSE(run.contains("updates"));
}

TEST(TrainingJson, HasUpdatesWhereTheyAreAskedFor) {
  const auto updates = document(3)["updates"];
  ASSERT_EQ(updates.size(), 1U);
  EXPECT_EQ(updates[0]["update"], 3);
  EXPECT_EQ(updates[0]["epoch"], 0.75);
  EXPECT_EQ(updates[0]["loss"], 0.75);
  EXPECT_EQ(updates[0]["seconds"], 0.5);
  EXPECT_EQ(updates[0]["imbalance"], 0.0);
  EXPECT_TRUE(document(5)["updates"].empty());
}

TEST(TrainingJson, HasTheDecisionsThatChangedSomething) {
  std::ostringstream out;
  TrainingJson json(out, std::nullopt, [] {});
  runtime::DecisionReport report;
  report.decision.configuration = {.minibatch = 16, .substeps = 2, .batch = 64};
  report.decision.reason = "9 % better";
  json.begin({});
  json.decision(report);
  report.changes = true;
  json.decision(report);
  json.end({});
  const auto run = nlohmann::json::parse(out.str());
  ASSERT_EQ(run["decisions"].size(), 1U);
  EXPECT_EQ(run["decisions"][0]["batch_size"], 64);
  EXPECT_EQ(run["decisions"][0]["reason"], "9 % better");
}

}  // namespace
}  // namespace rubato::app
