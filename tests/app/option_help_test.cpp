#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "option_tables.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;

TEST(Help, HasOptionsByGroupWithDefaultsChoicesAndAnExample) {
  const std::string help = small_table().help();
  EXPECT_THAT(help, HasSubstr("rubato tune: a test.\n\nUsage: rubato tune FILE [options]\n"));
  EXPECT_THAT(help, HasSubstr("\nBatch:\n  --trace FILE                a file\n"));
  EXPECT_THAT(
      help, HasSubstr("\n  --rule NAME                 the rule (linear, root; default linear)\n"));
  EXPECT_THAT(help, HasSubstr("(default 0.1)"));
  EXPECT_THAT(help, HasSubstr("how far (with --rule root; default 2)\n"));
  EXPECT_THAT(help, HasSubstr("--config FILE.ini"));
  EXPECT_THAT(help, HasSubstr("\nExample:\n  rubato tune\n"));
}

TEST(Help, SaysWhatFollowsTheOptions) {
  const OptionTable table({.command = "tune", .rest = "-- PROGRAM"}, {});
  EXPECT_THAT(table.help(), HasSubstr("\nUsage: rubato tune [options] -- PROGRAM\n"));
}

TEST(Help, ListsNoChoicesThatTheDescriptionNames) {
  const OptionTable table({.command = "tune"}, {{.name = "end",
                                                 .kind = OptionKind::choice,
                                                 .default_value = "drop",
                                                 .group = "G",
                                                 .description = "drop: wait; carry: go on",
                                                 .choices = {"drop", "carry"}}});
  EXPECT_THAT(table.help(), HasSubstr(" drop: wait; carry: go on (default drop)\n"));
}

TEST(Help, SaysWhichOptionAnotherOneNeeds) {
  const OptionTable table({.command = "tune"}, {{.name = "limits"},
                                                {.name = "fixed",
                                                 .kind = OptionKind::flag,
                                                 .description = "as it is",
                                                 .only_with = {.option = "limits"}}});
  EXPECT_THAT(table.help(), HasSubstr(" as it is (with --limits)\n"));
}

TEST(Help, BreaksLongDescriptionsAtAHundredColumns) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word" + std::to_string(i) + " ";
  const OptionTable table({.command = "tune"}, {{.name = "a-very-long-name-of-an-option",
                                                 .value_name = "VALUE",
                                                 .group = "G",
                                                 .description = words}});
  std::istringstream lines(table.help());
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  EXPECT_LE(longest, 100U);
  EXPECT_GT(longest, 90U);
  EXPECT_THAT(table.help(), HasSubstr("word59\n"));
}

}  // namespace
}  // namespace rubato::app
