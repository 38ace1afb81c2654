#include "app/report_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report_runs.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;

std::vector<ReportRun> made_runs(int count) {
  std::vector<ReportRun> runs;
  for (int i = 0; i < count; ++i) {
    runs.push_back(made_run(std::to_string(i), CellState::finished, {0.5}));
    runs.back().curve.facts.push_back({"started", "day " + std::to_string(i)});
    runs.back().configuration += "seed = " + std::to_string(i) + "\n";
  }
  return runs;
}

ReportRuns pointers_to(const std::vector<ReportRun>& runs) {
  ReportRuns pointers;
  for (const auto& run : runs) pointers.push_back(&run);
  return pointers;
}

TEST(ReportFacts, TellDifferentValuesInShort) {
  const auto two = made_runs(2);
  EXPECT_THAT(environment_of(pointers_to(two)),
              ElementsAre(RunFact{"version", "1.2.3"}, RunFact{"build_type", "Release"},
                          RunFact{"started", "day 0; day 1"}));
  const auto five = made_runs(5);
  EXPECT_EQ(environment_of(pointers_to(five)).back().value, "day 0; day 1; day 2; ... (5 values)");
}

TEST(ReportFacts, TellOptionsThatAreSharedFromThoseThatAreNot) {
  auto runs = made_runs(2);
  runs[1].configuration += "trust = 0.02\n";
  const auto options = options_of(pointers_to(runs));
  EXPECT_THAT(options.shared, ElementsAre(RunFact{"data", "digits"}, RunFact{"lr", "0.1"}));
  EXPECT_THAT(options.names, ElementsAre("seed", "trust"));
  EXPECT_THAT(options.values, ElementsAre(ElementsAre("0", ""), ElementsAre("1", "0.02")));
  const auto one = options_of({&runs[1]});
  EXPECT_EQ(one.shared.size(), 4U);
  EXPECT_TRUE(one.names.empty());
}

}  // namespace
}  // namespace rubato::app
