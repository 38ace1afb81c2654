#include "app/replayed_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/failure.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using Words = std::vector<std::string>;
using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

class ReplayedRun : public testing::Test {
 protected:
  // A run with these options beneath those of the words.
  Words written_out(const Words& options, const Words& more = {}) {
    const OptionTable table = train_table();
    std::ofstream(config) << table.parse(options).as_ini();
    Words words{"--out", "new", "--replay", directory.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return with_replay_written_out(table, words);
  }

  TemporaryDirectory directory;
  std::string config = (directory.path() / "config.ini").string();
  std::string decisions = (directory.path() / "decisions.csv").string();
  std::string trace = (directory.path() / "trace.csv").string();
};

TEST_F(ReplayedRun, TakesConfigurationAndDecisions) {
  const Words adaptive{"--data", "digits", "--adaptive", "max=99,initial=48", "--below-initial"};
  const Words words = written_out(adaptive);
  EXPECT_THAT(words, ElementsAre("--out", "new", "--config", config, "--trace", decisions,
                                 "--reference-batch", "48"));
  const Options options = train_table().parse(words);
  EXPECT_FALSE(options.has_value("adaptive"));
  EXPECT_FALSE(options.flag("below-initial"));
  EXPECT_EQ(options.text("trace"), decisions);
}

TEST_F(ReplayedRun, IsNamedInOneWordToo) {
  std::ofstream(config) << "data = digits\nbatch-size = 8\n";
  EXPECT_THAT(with_replay_written_out(train_table(),
                                      {"--replay=" + directory.path().string(), "--out", "new"}),
              ElementsAre("--out", "new", "--config", config));
}

TEST_F(ReplayedRun, KeepsAReferenceBatch) {
  Words adaptive{"--data", "digits", "--adaptive", "max=99", "--reference-batch", "7"};
  EXPECT_THAT(written_out(adaptive),
              ElementsAre("--out", "new", "--config", config, "--trace", decisions));
  adaptive.resize(4);
  EXPECT_THAT(
      written_out(adaptive, {"--reference-batch=9"}),
      ElementsAre("--out", "new", "--reference-batch=9", "--config", config, "--trace", decisions));
}

TEST_F(ReplayedRun, TakesTheTraceOfARunThatFollowedOne) {
  EXPECT_THAT(written_out({"--data", "digits", "--trace", "elsewhere.csv"}),
              ElementsAre("--out", "new", "--config", config, "--trace", trace));
  EXPECT_THAT(written_out({"--data", "digits", "--batch-size", "8"}),
              ElementsAre("--out", "new", "--config", config));
}

TEST_F(ReplayedRun, LeavesOtherCommandLinesAlone) {
  const Words words{"--data", "digits", "--batch-size", "8"};
  EXPECT_EQ(with_replay_written_out(train_table(), words), words);
}

TEST_F(ReplayedRun, RefusesADirectoryWithoutARunAndWhatExcludesIt) {
  const OptionTable table = train_table();
  EXPECT_THROW(with_replay_written_out(table, {"--replay", (directory.path() / "x").string()}),
               data::MissingFileError);
  for (const std::string name : {"trace", "batch-size", "adaptive", "config"}) {
    const std::string value = name == "config" ? config : "8";
    EXPECT_THAT(
        [&] {
          written_out({"--data", "digits", "--batch-size", "8"}, {"--" + name, value});
        },
        ThrowsMessage<UsageError>(
            StrEq("--" + name + " and --replay exclude each other; give one")));
  }
}

}  // namespace
}  // namespace rubato::app
