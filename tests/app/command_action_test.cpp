#include "app/command_action.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

OptionTable table_of_action(const std::string& command) {
  return {{.command = command, .summary = "does it."},
          {{.name = "size", .kind = OptionKind::integer, .default_value = "1"}}};
}

const std::vector<CommandAction> three_actions{
    {"show", [] { return table_of_action("thing show"); },
     [](const Options& options) { return 10 + static_cast<int>(options.integer("size")); }},
    {"make", [] { return table_of_action("thing make"); },
     [](const Options& options) { return 20 + static_cast<int>(options.integer("size")); }},
    {"drop", [] { return table_of_action("thing drop"); }, [](const Options&) { return 30; }}};

int run_thing(std::vector<std::string> words) {
  words.insert(words.begin(), {"rubato", "thing"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return run_action("thing", "all of it\n", three_actions, static_cast<int>(argv.size()),
                    argv.data());
}

TEST(CommandActions, RunsTheOneThatIsNamed) {
  EXPECT_EQ(run_thing({"show"}), 11);
  EXPECT_EQ(run_thing({"make", "--size", "5"}), 25);
  EXPECT_EQ(run_thing({"drop"}), 30);
}

TEST(CommandActions, HelpsWithAllAndWithEach) {
  for (const char* word : {"--help", "-h"}) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(run_thing({word}), exit_done);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "all of it\n");
  }
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_thing({"make", "--help"}), exit_done);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), StartsWith("rubato thing make: does it."));
}

TEST(CommandActions, RefusesWhatIsNone) {
  EXPECT_THAT([] { run_thing({}); },
              ThrowsMessage<UsageError>("thing: say what to do: show, make or drop"));
  EXPECT_THAT([] { run_thing({"mak"}); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean \"make\"?")));
}

}  // namespace
}  // namespace rubato::app
