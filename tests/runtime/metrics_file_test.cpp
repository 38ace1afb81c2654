// metrics.jsonl: each line is JSON that says what it was told.
#include "runtime/metrics_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

std::vector<nlohmann::json> lines_of(const std::filesystem::path& file) {
  std::vector<nlohmann::json> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(MetricsFile, HoldsContextUpdatesEvaluationsAndTheEndInOrder) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  StepReport step;
  step.update = 3;
  step.batch_size = 96;
  step.learning_rate = 0.1;
  step.imbalance = 0.25;
  step.audit = 0x00f0123456789;
  step.noise_scale = std::numeric_limits<double>::infinity();
  step.noise_interval = {100, std::numeric_limits<double>::infinity()};
  step.efficiency = 0.75;
  step.shadow_rates = {{"root", 0.05}, {"adamscale", std::numeric_limits<double>::quiet_NaN()}};
  {
    MetricsFile metrics(file);
    RunFacts facts;
    facts.context = {{"version", "1.2"}, {"hosts", "a"}};
    facts.ranks = 2;
    metrics.begin(facts);
    metrics.update(step);
    metrics.evaluation({.update = 3, .epoch = 0.5, .loss = 1.25, .accuracy = 0.75, .samples = 10});
    metrics.end({.reason = "done",
                 .updates = 3,
                 .seconds = 2,
                 .samples_per_second = 144,
                 .waiting_share = 0.125,
                 .waiting_seconds = {0.5, 0},
                 .slow_rank = {{1, "b", 3}}});
  }
  const auto lines = lines_of(file);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["type"], "context");
  EXPECT_EQ(lines[0]["version"], "1.2");
  EXPECT_EQ(lines[0]["ranks"], 2);
  EXPECT_EQ(lines[1]["type"], "update");
  EXPECT_EQ(lines[1]["batch_size"], 96);
  EXPECT_EQ(lines[1]["lr"], 0.1);
  EXPECT_TRUE(lines[1]["noise_scale"].is_null());
  EXPECT_EQ(lines[1]["noise_scale_low"], 100);
  EXPECT_TRUE(lines[1]["noise_scale_high"].is_null());
  EXPECT_EQ(lines[1]["efficiency"], 0.75);
  EXPECT_FALSE(lines[1].contains("clip"));
  EXPECT_FALSE(lines[1].contains("tensor_noise_scale"));
  EXPECT_EQ(lines[1]["shadow_lr"]["root"], 0.05);
  EXPECT_TRUE(lines[1]["shadow_lr"]["adamscale"].is_null());
  EXPECT_EQ(lines[1]["imbalance"], 0.25);
  EXPECT_EQ(lines[1]["audit"], "00f0123456789");
  EXPECT_FALSE(lines[1].contains("repeated"));
  EXPECT_FALSE(lines[1].contains("skipped"));
  EXPECT_EQ(lines[2]["type"], "eval");
  EXPECT_EQ(lines[2]["accuracy"], 0.75);
  EXPECT_EQ(lines[3]["type"], "end");
  EXPECT_EQ(lines[3]["reason"], "done");
  EXPECT_EQ(lines[3]["waiting_share"], 0.125);
  EXPECT_EQ(lines[3]["waiting_seconds"], (nlohmann::json{0.5, 0.0}));
  EXPECT_EQ(lines[3]["slow_rank"]["host"], "b");
}

TEST(MetricsFile, AClipAndTheNoiseOfTensorsAreTheirsWhoAskForThem) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  StepReport step;
  step.clip = 0.5;
  step.tensor_noise = {{"fc.weight", 12}, {"fc.bias", 13.5}};
  MetricsFile(file).update(step);
  const auto lines = lines_of(file);
  EXPECT_EQ(lines[0]["clip"], 0.5);
  EXPECT_EQ(lines[0]["tensor_noise_scale"]["fc.weight"], 12);
  EXPECT_EQ(lines[0]["tensor_noise_scale"]["fc.bias"], 13.5);
}

TEST(MetricsFile, ASkippedUpdateSaysWhy) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  StepReport step;
  step.loss = std::numeric_limits<double>::quiet_NaN();
  step.skipped = "the gradient is not finite";
  MetricsFile(file).update(step);
  const auto lines = lines_of(file);
  EXPECT_TRUE(lines[0]["loss"].is_null());
  EXPECT_EQ(lines[0]["skipped"], "the gradient is not finite");
}

TEST(MetricsFile, CompleteEpochsAreLines) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  {
    MetricsFile metrics(file);
    metrics.update(StepReport());
    metrics.epoch({.epoch = 4, .samples = 100, .digest = 10});
    metrics.epoch({.epoch = 5, .samples = 100, .digest = 11});
  }
  const auto lines = lines_of(file);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["type"], "epoch");
  EXPECT_EQ(lines[1]["epoch"], 4);
  EXPECT_EQ(lines[1]["samples"], 100);
  EXPECT_EQ(lines[2]["audit"], "000000000000b");
}

TEST(MetricsFile, DecisionsAreLinesAndUpdatesSayWhatTheyAreWorth) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  MetricsFile metrics(file);
  StepReport step;
  step.minibatch = 16;
  metrics.update(step);
  step.goodput = 1000;
  step.predicted_goodput = 1100;
  metrics.update(step);
  const BatchDecision decision{.update = 40,
                               .epoch = 2,
                               .configuration = {.minibatch = 16, .substeps = 3, .batch = 96},
                               .ranks = 2,
                               .predicted_goodput = 1200,
                               .reason = "20 % better"};
  metrics.decision({.decision = decision, .changes = true, .seconds = 0.25});
  const auto lines = lines_of(file);
  EXPECT_EQ(lines[0]["minibatch"], 16);
  EXPECT_FALSE(lines[0].contains("goodput"));
  EXPECT_FALSE(lines[0].contains("predicted_goodput"));
  EXPECT_EQ(lines[1]["goodput"], 1000);
  EXPECT_EQ(lines[1]["predicted_goodput"], 1100);
  EXPECT_EQ(lines[2]["type"], "decision");
  EXPECT_EQ(lines[2]["update"], 40);
  EXPECT_EQ(lines[2]["changes"], true);
  EXPECT_EQ(lines[2]["batch_size"], 96);
  EXPECT_EQ(lines[2]["minibatch"], 16);
  EXPECT_EQ(lines[2]["predicted_goodput"], 1200);
  EXPECT_EQ(lines[2]["seconds"], 0.25);
  EXPECT_EQ(lines[2]["reason"], "20 % better");
}

TEST(MetricsFile, CheckpointsAndWarningsAreLines) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  MetricsFile metrics(file);
  metrics.checkpoint({.update = 7, .bytes = 1000, .stall_seconds = 0.5});
  metrics.warning("a byte that is not UTF-8: \xff");
  const auto lines = lines_of(file);
  EXPECT_EQ(lines[0]["type"], "checkpoint");
  EXPECT_EQ(lines[0]["update"], 7);
  EXPECT_EQ(lines[0]["stall_seconds"], 0.5);
  EXPECT_EQ(lines[1]["warning"], "a byte that is not UTF-8: \ufffd");
}

// What a run from one update to another writes, without its end.
void write_updates(MetricsFile& metrics, std::uint64_t first, std::uint64_t last) {
  RunFacts facts;
  facts.start.update = first;
  metrics.begin(facts);
  for (std::uint64_t update = first + 1; update <= last; ++update) {
    StepReport step;
    step.update = update;
    metrics.update(step);
  }
}

TEST(MetricsFile, AResumedRunGoesOnAfterItsCheckpointsUpdate) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  {
    MetricsFile metrics(file);
    write_updates(metrics, 0, 5);
  }
  std::ofstream(file, std::ios::app) << R"({"type":"upd)";
  {
    MetricsFile metrics(file, data::Cursor{.update = 3});
    EXPECT_EQ(metrics.note(), "");
    write_updates(metrics, 3, 4);
  }
  const auto lines = lines_of(file);
  ASSERT_EQ(lines.size(), 6U);
  for (std::size_t update = 1; update <= 3; ++update) EXPECT_EQ(lines[update]["update"], update);
  EXPECT_FALSE(lines[0].contains("resumed_from"));
  EXPECT_EQ(lines[4]["resumed_from"], 3);
  EXPECT_EQ(lines[5]["update"], 4);
}

TEST(MetricsFile, AnIncompleteFileIsSetAsideAndANewOneBegun) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  for (const std::size_t number : {1U, 2U}) {
    {
      MetricsFile metrics(file);
      write_updates(metrics, 0, number);
    }
    MetricsFile metrics(file, data::Cursor{.update = 9});
    const std::string aside = "metrics.jsonl." + std::to_string(number);
    EXPECT_EQ(metrics.note(), file.string() + " ends after update " + std::to_string(number) +
                                  ", so it cannot be continued after update 9: a new one begins "
                                  "there, and the old one is " +
                                  aside);
    EXPECT_EQ(lines_of(directory.path() / aside).size(), number + 1);
    EXPECT_TRUE(lines_of(file).empty());
  }
}

TEST(MetricsFile, AMissingFileIsBegun) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  MetricsFile metrics(file, data::Cursor{.update = 9});
  EXPECT_EQ(metrics.note(), file.string() +
                                " is missing, so it cannot be continued after update "
                                "9: a new one begins there");
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(MetricsFile, AFileThatCannotBeMadeIsNamed) {
  try {
    MetricsFile metrics("/nonexistent/metrics.jsonl");
    ADD_FAILURE();
  } catch (const OutputError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/metrics.jsonl"), std::string::npos);
  }
}

}  // namespace
}  // namespace rubato::runtime
