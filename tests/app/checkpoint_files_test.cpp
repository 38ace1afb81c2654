// A path stands for a file, or for what a run's directory has.
#include "app/checkpoint_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "data/errors.hpp"
#include "tests/runtime/example_state.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using runtime::checkpoint_path;
using testing::ElementsAre;
using testing::HasSubstr;

class CheckpointFilesTest : public testing::Test {
 protected:
  CheckpointFilesTest() {
    std::filesystem::create_directories(run / "checkpoints");
    for (const std::uint64_t update : {3U, 12U, 100U}) write(update, update);
  }

  void write(std::uint64_t name, std::uint64_t update) const {
    runtime::TrainingState state = runtime::example_state();
    state.cursor.update = update;
    runtime::write_checkpoint(checkpoint_path(run, name), {state, {}, {}});
  }

  void damage(std::uint64_t update) const {
    std::fstream stream(checkpoint_path(run, update),
                        std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(700);
    stream.put('\xa5');
  }

  TemporaryDirectory directory;
  std::filesystem::path run = directory.path() / "run";
};

TEST_F(CheckpointFilesTest, OfADirectoryTheNewestGoodOneIsTaken) {
  EXPECT_EQ(read_newest(run).file, checkpoint_path(run, 100));
  damage(100);
  const NamedCheckpoint named = read_newest(run / "checkpoints" / "");
  EXPECT_EQ(named.file, checkpoint_path(run, 12));
  EXPECT_EQ(named.file_bytes, std::filesystem::file_size(named.file));
  EXPECT_EQ(named.checkpoint.state.cursor.update, 12U);
  EXPECT_THAT(named.skipped, ElementsAre(HasSubstr("ckpt-100.h5: does not match its checksum")));
  EXPECT_EQ(read_newest(checkpoint_path(run, 3)).checkpoint.state.cursor.update, 3U);
}

TEST_F(CheckpointFilesTest, LatestStandsForTheNewestGoodOne) {
  const std::filesystem::path latest = run / "checkpoints" / "latest";
  EXPECT_THROW(read_newest(latest), data::MissingFileError);
  std::ofstream(latest) << "ckpt-100.h5\n";
  EXPECT_EQ(read_newest(latest).file, checkpoint_path(run, 100));
  damage(100);
  EXPECT_EQ(read_newest(latest).file, checkpoint_path(run, 12));
  EXPECT_EQ(checkpoint_files(latest), checkpoint_files(run));
}

TEST_F(CheckpointFilesTest, ElsewhereAFileMayBeCalledLatest) {
  const std::filesystem::path file = directory.path() / "latest";
  runtime::write_checkpoint(file, {runtime::example_state(), {}, {}});
  EXPECT_EQ(read_newest(file).file, file);
}

TEST_F(CheckpointFilesTest, ADirectoryWithoutAGoodOneIsRefused) {
  EXPECT_THROW(read_newest(directory.path()), data::MissingFileError);
  EXPECT_THROW(checkpoint_files(directory.path()), data::MissingFileError);
  EXPECT_THROW(read_newest(run / "nowhere.h5"), data::MissingFileError);
  for (const std::uint64_t update : {3U, 12U, 100U}) damage(update);
  try {
    read_newest(run);
    FAIL() << "read a damaged checkpoint";
  } catch (const data::ContentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of its 3 checkpoints is good"));
  }
}

TEST_F(CheckpointFilesTest, AllOfADirectoryAreListedNewestFirst) {
  EXPECT_THAT(
      checkpoint_files(run),
      ElementsAre(checkpoint_path(run, 100), checkpoint_path(run, 12), checkpoint_path(run, 3)));
  EXPECT_THAT(checkpoint_files("a.h5"), ElementsAre("a.h5"));
}

TEST_F(CheckpointFilesTest, AFileIsInspectedWithoutFailing) {
  const CheckpointFile good = inspect(checkpoint_path(run, 12));
  EXPECT_TRUE(good.has_checksum);
  EXPECT_EQ(good.problem, "");
  ASSERT_TRUE(good.state);
  EXPECT_EQ(good.state->cursor.update, 12U);
  damage(12);
  EXPECT_THAT(inspect(checkpoint_path(run, 12)).problem, HasSubstr("does not match its checksum"));
  EXPECT_FALSE(inspect(checkpoint_path(run, 12)).state);
  write(12, 13);
  EXPECT_THAT(inspect(checkpoint_path(run, 12)).problem, HasSubstr("the state after update 13"));
  std::filesystem::remove(checkpoint_path(run, 3).string() + ".sha256");
  EXPECT_FALSE(inspect(checkpoint_path(run, 3)).has_checksum);
  EXPECT_THROW(inspect(run / "nowhere.h5"), data::MissingFileError);
}

TEST_F(CheckpointFilesTest, WhatIsNoOrdinaryFileIsNamed) {
  const auto refusal = [](const std::filesystem::path& file) { return inspect(file).problem; };
  const auto pipe = run / "pipe.h5";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), pipe.string() + ": is a named pipe, expected an ordinary file");
  const auto link = run / "link.h5";
  std::filesystem::create_symlink("checkpoints/ckpt-12.h5", link);
  EXPECT_EQ(refusal(link), link.string() + ": is a symbolic link, to checkpoints/ckpt-12.h5," +
                               " expected an ordinary file");
  EXPECT_EQ(refusal("/dev/null"), "/dev/null: is a device, expected an ordinary file");
}

TEST(CheckpointFiles, TextIsMadeSafeForATerminal) {
  EXPECT_EQ(printable("plain\ntext"), "plain\ntext");
  EXPECT_EQ(printable("\x1b[2J\x7f\xc3\xa9\t"), "\\x1b[2J\\x7f\\xc3\\xa9\\x09");
}

}  // namespace
}  // namespace rubato::app
