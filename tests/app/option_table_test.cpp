// A command line and a configuration file become values. More complaints: bad_input_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "app/failure.hpp"
#include "app/options.hpp"
#include "data/errors.hpp"
#include "option_tables.hpp"
#include "temporary_file.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

class ConfigFile : public testing::Test {
 protected:
  // The values of `line`, after --config with a file of this text.
  Options with(const std::string& text, std::vector<std::string> line = {}) {
    file_.write(text);
    line.insert(line.begin(), {"--config", file_.path()});
    return parse(line);
  }
  TemporaryFile file_;
};

TEST_F(ConfigFile, FillsInWhatTheCommandLineLeavesOpen) {
  const auto options = with("# a comment\nlr = 0.5\nrule = root\nnesterov = true\n",
                            {"--lr", "0.25", "--nesterov=false"});
  EXPECT_EQ(options.number("lr"), 0.25);
  EXPECT_EQ(options.text("rule"), "root");
  EXPECT_FALSE(options.flag("nesterov"));
  EXPECT_TRUE(options.is_given("rule"));
}

TEST_F(ConfigFile, GivesWayWhereTheCommandLineNamesAnAlternative) {
  const auto options = with("batch-size = 64\n", {"--trace", "new.csv"});
  EXPECT_EQ(options.text("trace"), "new.csv");
  EXPECT_FALSE(options.has_value("batch-size"));
}

TEST_F(ConfigFile, IsRefusedWithItsNameAndTheCulprit) {
  const auto expect = [&](const std::string& text, const std::string& words) {
    EXPECT_THAT([&] { with(text); },
                ThrowsMessage<data::ContentError>(StrEq(file_.path() + ": " + words)));
  };
  expect("rlue = root\n", "unknown key \"rlue\"; did you mean \"rule\"?");
  expect("wibbly = 1\n", "unknown key \"wibbly\"");
  expect("[rate]\nlr = 1\n", "unknown key \"rate.lr\"");
  expect("config = other.ini\n", "config: a file cannot name another");
  expect("lr = nan\n", "lr nan: expected a positive number");
  expect("lr = 1\nlr = 2\n", "lr is given twice; give it once");
  expect("lr =\n", "lr: a value is missing");
  expect("rule = rot\n", "unknown rule \"rot\": did you mean \"root\"? (valid: linear, root)");
  expect("some words\n", "\"some words\": expected a line NAME = VALUE");
}

TEST_F(ConfigFile, MayNotGiveTwoAlternatives) {
  EXPECT_THROW(with("batch-size = 64\ntrace = a.csv\n"), UsageError);
}

TEST_F(ConfigFile, GivesWayWhereTheCommandLineRulesAnOptionOut) {
  const auto options = with("rule = root\nbend = 3\n", {"--rule", "linear"});
  EXPECT_FALSE(options.has_value("bend"));
  EXPECT_EQ(with("rule = linear\n", {"--rule", "root", "--bend", "4"}).number("bend"), 4);
}

TEST(Condition, RulesOutWhatHasNoMeaning) {
  const auto expect = [](const std::vector<std::string>& line, const std::string& words) {
    EXPECT_THAT([&] { parse(line); }, ThrowsMessage<UsageError>(StrEq(words)));
  };
  expect({"--rule", "linear", "--bend", "2"},
         "--bend needs --rule root, but the run has --rule linear");
  expect({"--bend", "2"}, "--bend needs --rule root, but the run has --rule linear");
  EXPECT_EQ(parse({"--rule", "root"}).number("bend"), 2);
  EXPECT_FALSE(parse({}).has_value("bend"));  // nor is it recorded
}

// An option that belongs to one of two alternatives goes with it.
TEST(Condition, MayBeThatAnotherOptionHasAValue) {
  OptionTable::About about{.command = "try", .reads_config = true};
  about.alternatives = {{"trace", "limits"}};
  const OptionTable table(
      about, {{.name = "trace"},
              {.name = "limits"},
              {.name = "fixed", .kind = OptionKind::flag, .only_with = {.option = "limits"}}});
  EXPECT_TRUE(table.parse({"--limits", "5", "--fixed"}).flag("fixed"));
  EXPECT_FALSE(table.parse({"--limits", "5"}).flag("fixed"));
  EXPECT_THAT([&] { table.parse({"--fixed"}); },
              ThrowsMessage<UsageError>(StrEq("--fixed needs --limits")));
  EXPECT_THAT(
      [&] {
        table.parse({"--fixed", "--trace", "t"});
      },
      ThrowsMessage<UsageError>(StrEq("--fixed needs --limits")));
  const std::string before = table.parse({"--limits", "5", "--fixed"}).as_ini();
  EXPECT_TRUE(table.parse(std::vector<std::string>(), before).flag("fixed"));
  EXPECT_FALSE(table.parse({"--trace", "t"}, before).flag("fixed"));
}

TEST(OptionTable, NamesWhatARunThatGoesOnMayNotChange) {
  OptionTable::About about{.command = "try", .reads_config = true};
  about.alternatives = {{"trace", "limits"}};
  const OptionTable table(about, {{.name = "trace", .may_change = true},
                                  {.name = "limits"},
                                  {.name = "lr", .kind = OptionKind::number}});
  const std::string before = table.parse({"--limits", "5", "--lr", "0.10"}).as_ini();
  const std::string keeps =
      ", and a resumed run keeps it; leave the option out, or begin another"
      " run";
  const auto refusal = [&](const std::vector<std::string>& words) -> std::string {
    try {
      table.require_unchanged(table.parse(words, before), before);
      return {};
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({"--lr", "0.1"}), "");
  EXPECT_EQ(refusal({"--lr", "0.2"}), "--lr 0.2: the run to go on with has 0.10" + keeps);
  EXPECT_EQ(refusal({"--trace", "t"}), "--trace t: the run to go on with has --limits 5" + keeps);
}

TEST_F(ConfigFile, MayNotGiveWhatItRulesOut) {
  EXPECT_THROW(with("bend = 3\n"), UsageError);
  EXPECT_THROW(with("rule = linear\n", {"--bend", "3"}), UsageError);
}

TEST(MissingConfigFile, IsMissing) {
  EXPECT_THAT(
      [] {
        parse({"--config", "nowhere.ini"});
      },
      ThrowsMessage<data::MissingFileError>(HasSubstr("nowhere.ini")));
}

TEST(OptionTable, TakesAValueThatBeginsWithOneDash) {
  EXPECT_EQ(parse({"--trace", "-"}).text("trace"), "-");
}

TEST(OptionTable, SeesHelpAnywhereAndThenNothingElse) {
  EXPECT_TRUE(parse({"--frobnicate", "-h"}).wants_help());
  EXPECT_FALSE(parse({"--trace", "h"}).wants_help());
  std::array<char*, 3> line{const_cast<char*>("rubato"), const_cast<char*>("tune"),
                            const_cast<char*>("--help")};
  EXPECT_TRUE(asks_for_help(3, line.data()));
  EXPECT_FALSE(asks_for_help(2, line.data()));
}

}  // namespace
}  // namespace rubato::app
