#include "app/options.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "app/failure.hpp"
#include "option_tables.hpp"
#include "temporary_file.hpp"

namespace rubato::app {
namespace {

TEST(Options, GiveValuesAsTheirKind) {
  const auto options =
      parse({"--batch-size", "64", "--lr=0.25", "--rule", "root", "--nesterov", "words.txt"});
  EXPECT_EQ(options.integer("batch-size"), 64U);
  EXPECT_EQ(options.number("lr"), 0.25);
  EXPECT_EQ(options.text("rule"), "root");
  EXPECT_TRUE(options.flag("nesterov"));
  EXPECT_EQ(options.positionals(), std::vector<std::string>{"words.txt"});
}

TEST(Options, TellDefaultsFromWhatWasGiven) {
  const auto options = parse({});
  EXPECT_EQ(options.number("lr"), 0.1);
  EXPECT_TRUE(options.has_value("lr"));
  EXPECT_FALSE(options.is_given("lr"));
  EXPECT_TRUE(parse({"--lr", "0.1"}).is_given("lr"));
  EXPECT_FALSE(options.flag("nesterov"));
  EXPECT_FALSE(options.has_value("trace"));
  EXPECT_EQ(options.text_if("trace"), std::nullopt);
  EXPECT_EQ(options.integer_if("batch-size"), std::nullopt);
  EXPECT_EQ(options.number_if("lr"), 0.1);
}

TEST(Options, RefuseWhatOnlyABugCanAsk) {
  const auto options = parse({});
  EXPECT_THROW(options.text("frobnicate"), std::logic_error);
  EXPECT_THROW(options.integer("lr"), std::logic_error);
  EXPECT_THROW(options.text("trace"), std::logic_error);
}

TEST(Options, AreWrittenInGroupsWithTheirDefaults) {
  EXPECT_EQ(parse({"--batch-size", "64", "--out", "runs"}).as_ini(),
            "# Batch\nbatch-size = 64\n\n# Rate\nlr = 0.1\nrule = linear\nnesterov = false\n");
}

TEST(Options, ReadBackFromTheirFileToTheSame) {
  const auto written = parse({"--trace", "a b = [c];.csv", "--lr", "3e-7", "--nesterov"});
  const TemporaryFile file(written.as_ini());
  const auto read = parse({"--config", file.path()});
  EXPECT_EQ(read.as_ini(), written.as_ini());
  EXPECT_EQ(read.text("trace"), "a b = [c];.csv");
  EXPECT_EQ(read.number("lr"), 3e-7);
  EXPECT_TRUE(read.flag("nesterov"));
}

TEST(Options, RefuseToWriteWhatTheFileCannotHold) {
  for (const auto* text : {"a#b", " a", "a\t", "a\nb"}) {
    EXPECT_THROW(parse({"--trace", text}).as_ini(), UsageError) << text;
  }
  EXPECT_NO_THROW(parse({"--out", "a#b"}).as_ini());  // not recorded
}

}  // namespace
}  // namespace rubato::app
