// What stays, what goes, and which checkpoint a run would go on from.
#include "runtime/checkpoint_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/committed_file.hpp"
#include "runtime/errors.hpp"
#include "tests/runtime/example_state.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> image_of(std::uint64_t update, std::uint64_t seed = 7) {
  Checkpoint checkpoint{example_state(), {}, {}};
  checkpoint.state.cursor.update = update;
  checkpoint.state.seed = seed;
  return encode_checkpoint(checkpoint);
}

class CheckpointStoreTest : public testing::Test {
 protected:
  void commit(std::uint64_t update) { store.commit(update, image_of(update)); }

  std::vector<std::uint64_t> updates() const {
    std::vector<std::uint64_t> found;
    for (const auto& stored : stored_checkpoints(run.path())) found.push_back(stored.update);
    return found;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  std::string latest() const {
    std::ostringstream text;
    text << std::ifstream(directory / "latest").rdbuf();
    return text.str();
  }
  std::uint64_t newest_good() const {
    const Found found = newest_good_checkpoint(run.path());
    return found.newest ? found.newest->stored.update : 999;
  }
  void damage(std::uint64_t update) {
    std::fstream(checkpoint_path(run.path(), update), std::ios::in | std::ios::out) << '\0';
  }

  TemporaryDirectory run;
  std::filesystem::path directory = run.path() / "checkpoints";
  CheckpointStore store{run.path(), /*keep=*/2};
};

TEST_F(CheckpointStoreTest, NothingIsFoundWhereNothingIs) {
  EXPECT_THAT(updates(), ElementsAre());
  EXPECT_FALSE(newest_good_checkpoint(run.path()).newest);
  EXPECT_NO_THROW(store.remove_leftovers());
}

TEST_F(CheckpointStoreTest, TheLastOnesAndTheFirstStay) {
  for (std::uint64_t update : {0U, 3U, 20U, 100U}) commit(update);
  EXPECT_THAT(updates(), ElementsAre(100, 20, 0));  // by number, not by letters
  EXPECT_THAT(names(),
              ElementsAre("ckpt-0.h5", "ckpt-0.h5.sha256", "ckpt-100.h5", "ckpt-100.h5.sha256",
                          "ckpt-20.h5", "ckpt-20.h5.sha256", "latest"));
  EXPECT_EQ(latest(), "ckpt-100.h5\n");
}

TEST_F(CheckpointStoreTest, WhatIsFoundIsDecodedAndItsBytesAreTheFiles) {
  commit(5);
  const Found found = newest_good_checkpoint(run.path());
  ASSERT_TRUE(found.newest);
  EXPECT_EQ(found.newest->checkpoint.state.cursor.update, 5U);
  EXPECT_EQ(found.newest->stored.file, checkpoint_path(run.path(), 5));
  EXPECT_EQ(found.newest->bytes, read_checked_file(checkpoint_path(run.path(), 5)));
  EXPECT_TRUE(found.skipped.empty());
}

TEST_F(CheckpointStoreTest, DamagedOnesAreSkippedAndNamedNewestFirst) {
  store = CheckpointStore(run.path(), 5);
  for (std::uint64_t update = 1; update <= 5; ++update) commit(update);
  damage(5);
  std::filesystem::remove(checksum_file_of(checkpoint_path(run.path(), 4)));
  std::filesystem::rename(checkpoint_path(run.path(), 3), run.path() / "away");
  std::filesystem::create_directory(checkpoint_path(run.path(), 3));
  std::filesystem::resize_file(checkpoint_path(run.path(), 2), 100);
  const Found found = newest_good_checkpoint(run.path());
  ASSERT_TRUE(found.newest);
  EXPECT_EQ(found.newest->stored.update, 1U);
  std::vector<std::filesystem::path> files;
  for (const SkippedCheckpoint& skipped : found.skipped) {
    files.push_back(skipped.file);
    EXPECT_THAT(skipped.reason, HasSubstr(skipped.file.string()));
  }
  EXPECT_THAT(files, ElementsAre(checkpoint_path(run.path(), 5), checkpoint_path(run.path(), 4),
                                 checkpoint_path(run.path(), 3), checkpoint_path(run.path(), 2)));
  EXPECT_THAT(found.skipped[0].reason, HasSubstr("does not match its checksum"));
  EXPECT_THAT(found.skipped[1].reason, HasSubstr("sha256sum ckpt-4.h5 > ckpt-4.h5.sha256"));
}

TEST_F(CheckpointStoreTest, AFileThatHoldsAnotherUpdateDoesNotCount) {
  commit(1);
  commit_file_with_checksum(checkpoint_path(run.path(), 2), image_of(17));
  const Found found = newest_good_checkpoint(run.path());
  EXPECT_EQ(found.newest->stored.update, 1U);
  ASSERT_EQ(found.skipped.size(), 1U);
  EXPECT_THAT(found.skipped[0].reason, HasSubstr("holds the state after update 17"));
}

TEST_F(CheckpointStoreTest, AGoodChecksumOfSomethingElseDoesNotCount) {
  commit(1);
  commit_file_with_checksum(checkpoint_path(run.path(), 2), {});
  EXPECT_EQ(newest_good(), 1U);
}

TEST_F(CheckpointStoreTest, LatestIsNotBelieved) {
  commit(1);
  commit(2);
  std::ofstream(directory / "latest") << "ckpt-77.h5\n";
  EXPECT_EQ(newest_good(), 2U);
}

TEST_F(CheckpointStoreTest, OtherNamesAreNoCheckpoints) {
  commit(1);
  for (const char* name : {"ckpt-02.h5", "ckpt-.h5", "ckpt-3.h5x", "ckpt--3.h5", "xckpt-3.h5",
                           "ckpt-18446744073709551616.h5", "ckpt- 3.h5", "ckpt"}) {
    std::ofstream(directory / name) << "x";
  }
  EXPECT_THAT(updates(), ElementsAre(1));
}

TEST_F(CheckpointStoreTest, LeftoversGoAndEverythingElseStays) {
  commit(1);
  for (const char* name : {".tmp-ckpt-2.h5-host-1-0", "ckpt-2.h5.sha256", "notes.txt.sha256"}) {
    std::ofstream(directory / name) << "x";
  }
  store.remove_leftovers();
  EXPECT_THAT(names(), ElementsAre("ckpt-1.h5", "ckpt-1.h5.sha256", "latest", "notes.txt.sha256"));
  std::ofstream(directory / ".tmp-latest-host-1-0") << "x";
  commit(2);
  EXPECT_THAT(names(), ElementsAre("ckpt-1.h5", "ckpt-1.h5.sha256", "ckpt-2.h5", "ckpt-2.h5.sha256",
                                   "latest", "notes.txt.sha256"));
}

TEST_F(CheckpointStoreTest, AnUpdateReachedAgainReplacesItsCheckpoint) {
  store.commit(4, image_of(4, /*seed=*/1));
  store.commit(4, image_of(4, /*seed=*/2));
  EXPECT_EQ(newest_good_checkpoint(run.path()).newest->checkpoint.state.seed, 2U);
}

// A run that fell back behind damaged checkpoints: the one it writes must not be the one removed.
TEST_F(CheckpointStoreTest, LaterOnesAreLeftAloneAndDoNotCount) {
  for (std::uint64_t update : {7U, 8U, 9U}) commit(update);
  damage(8);
  damage(9);
  commit(2);
  commit(3);
  commit(4);
  EXPECT_THAT(updates(), ElementsAre(9, 8, 4, 3));
  EXPECT_EQ(newest_good(), 4U);
}

TEST_F(CheckpointStoreTest, AFailureSaysSoAndLeavesWhatWasThere) {
  commit(1);
  const std::vector<std::string> before = names();
  const auto refuse = [] { throw WriteError("refused"); };
  EXPECT_THROW(store.commit(2, image_of(2), refuse), WriteError);
  EXPECT_EQ(names(), before);
  std::filesystem::create_directory(checkpoint_path(run.path(), 3));
  EXPECT_THROW(commit(3), WriteError);
  EXPECT_EQ(newest_good(), 1U);
}

TEST_F(CheckpointStoreTest, AFileInTheDirectorysPlaceIsNamed) {
  std::ofstream(run.path() / "checkpoints") << "x";
  try {
    commit(1);
    ADD_FAILURE();
  } catch (const WriteError& error) {
    EXPECT_THAT(error.what(), HasSubstr((run.path() / "checkpoints").string()));
  }
}

TEST_F(CheckpointStoreTest, KeepingNoneIsRefused) {
  EXPECT_THROW(CheckpointStore(run.path(), 0), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::runtime
