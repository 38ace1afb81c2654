// metrics.jsonl: each line is JSON that says what it was told.
#include "runtime/metrics_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/errors.hpp"
#include "tests/runtime/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

std::vector<nlohmann::json> lines_of(const std::filesystem::path& file) {
  std::vector<nlohmann::json> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(MetricsFile, HoldsContextUpdatesEvaluationsAndTheEndInOrder) {
  const testing::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "metrics.jsonl";
  StepReport step;
  step.update = 3;
  step.batch_size = 96;
  step.learning_rate = 0.1;
  step.noise_scale = std::numeric_limits<double>::infinity();
  step.shadow_rates = {{"root", 0.05}};
  {
    MetricsFile metrics(file);
    RunFacts facts;
    facts.context = {{"version", "1.2"}, {"hosts", "a"}};
    facts.ranks = 2;
    metrics.begin(facts);
    metrics.update(step);
    metrics.evaluation({.update = 3, .epoch = 0.5, .loss = 1.25, .accuracy = 0.75, .samples = 10});
    metrics.end({.reason = "done", .updates = 3, .seconds = 2, .samples_per_second = 144});
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
  EXPECT_EQ(lines[1]["shadow_lr"]["root"], 0.05);
  EXPECT_FALSE(lines[1].contains("repeated"));
  EXPECT_EQ(lines[2]["type"], "eval");
  EXPECT_EQ(lines[2]["accuracy"], 0.75);
  EXPECT_EQ(lines[3]["type"], "end");
  EXPECT_EQ(lines[3]["reason"], "done");
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
