#include "app/report_content.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/study_grid.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"
#include "report_runs.hpp"
#include "runtime/state_file.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* metrics =
    "{\"type\":\"context\",\"version\":\"1\"}\n"
    "{\"type\":\"update\",\"update\":1,\"samples\":32,\"seconds\":0.5,\"loss\":1.0}\n"
    "{\"type\":\"eval\",\"update\":1,\"epoch\":1.0,\"loss\":0.5,\"accuracy\":0.75}\n";

class Content : public testing::Test {
 protected:
  void write_run(const std::string& name) const {
    directory.write(name + "/metrics.jsonl", metrics);
    directory.write(name + "/config.ini", "lr = 1\n");
    runtime::RunStatus status;
    status.state = runtime::RunState::finished;
    status.update = 1;
    runtime::write_status(directory.path() / name, status);
  }
  void write_study() const {
    directory.write("s/study.ini",
                    "[study]\nname = batches\n[common]\ndata = digits\nepochs = 1\n"
                    "[grid]\nbatch-size = 32, 64\nmomentum = 0.5\n");
  }
  std::string path(const std::string& name) const { return (directory.path() / name).string(); }

  TemporaryDirectory directory;
};

TEST_F(Content, IsOfRuns) {
  write_run("a");
  write_run("b");
  const auto content = read_content({path("b"), path("a")});
  EXPECT_TRUE(content.studies.empty());
  ASSERT_EQ(content.runs.size(), 2U);
  EXPECT_EQ(content.runs[0].name, path("b")) << "as it was given";
  EXPECT_EQ(content.runs[0].configuration, "lr = 1\n");
  EXPECT_EQ(content.runs[0].course.state, CellState::finished);
  EXPECT_EQ(content.runs[0].curve.updates.size(), 1U);
}

TEST_F(Content, IsOfTheCellsOfAStudyThatAreOver) {
  write_study();
  write_run("s/cells/batch=64,momentum=0.5");
  const auto content = read_content({path("s")});
  ASSERT_EQ(content.studies.size(), 1U);
  const auto& study = content.studies[0];
  EXPECT_EQ(study.results.name, "batches");
  EXPECT_THAT(study.file, HasSubstr("batch-size = 32, 64"));
  ASSERT_EQ(study.runs.size(), 1U);
  EXPECT_EQ(study.runs[0].name, "batch=64,momentum=0.5");
  EXPECT_EQ(study.runs[0].batch, "64");
  EXPECT_EQ(study.runs[0].group, "momentum=0.5");
}

TEST_F(Content, HasToBeThere) {
  directory.write("empty/nothing", "");
  directory.write("young/metrics.jsonl", "{\"type\":\"context\"}\n");
  write_study();
  const auto reading = [&](const std::string& name) {
    return [this, name] { read_content({path(name)}); };
  };
  EXPECT_THAT(reading("none"), ThrowsMessage<data::MissingFileError>(HasSubstr("does not exist")));
  EXPECT_THAT(reading("empty/nothing"),
              ThrowsMessage<data::MissingFileError>(HasSubstr("is no directory")));
  EXPECT_THAT(reading("empty"), ThrowsMessage<data::MissingFileError>(
                                    HasSubstr("neither metrics.jsonl nor study.ini")));
  EXPECT_THAT(reading("young"),
              ThrowsMessage<data::ContentError>(HasSubstr("tells of no update yet")));
  EXPECT_THAT(reading("s"), ThrowsMessage<data::ContentError>(
                                HasSubstr("none of whose cells has come to its end")));
}

}  // namespace
}  // namespace rubato::app
