// A checkpoint read back is the state that was written; anything else is refused with a sentence.
#include "runtime/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "data/errors.hpp"
#include "data/hdf5_handle.hpp"
#include "runtime/checkpoint_hdf5.hpp"
#include "runtime/committed_file.hpp"
#include "tests/runtime/example_state.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class CheckpointTest : public testing::Test {
 protected:
  std::string refusal() const {
    try {
      read_checkpoint(file);
    } catch (const data::ContentError& error) {
      return error.what();
    }
    return {};
  }
  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "ckpt-12.h5";
};

TEST_F(CheckpointTest, IsReadBackAsItWasWritten) {
  write_checkpoint(file, {example_state(), {{"data", "digits"}}, {{"hosts", "a, b"}}});
  const Checkpoint checkpoint = read_checkpoint(file);
  EXPECT_EQ(checkpoint.state.cursor, example_state().cursor);
  EXPECT_EQ(checkpoint.state.audit, example_state().audit);
  EXPECT_EQ(checkpoint.state.rule, "adascale");
  EXPECT_EQ(state_digest(checkpoint.state), state_digest(example_state()));
  EXPECT_EQ(checkpoint.identity, (std::vector<ContextEntry>{{"data", "digits"}}));
  EXPECT_EQ(checkpoint.context, (std::vector<ContextEntry>{{"hosts", "a, b"}}));
}

TEST_F(CheckpointTest, TheContextIsNotPartOfTheState) {
  write_checkpoint(file, {example_state(), {}, {{"hosts", "a, b"}}});
  const std::string digest = state_digest(read_checkpoint(file).state);
  write_checkpoint(file, {example_state(), {}, {{"hosts", "c"}}});
  EXPECT_EQ(state_digest(read_checkpoint(file).state), digest);
}

TEST_F(CheckpointTest, AStateWithoutOptimizerOrUnitsIsWhole) {
  TrainingState state = example_state();
  state.optimizer.clear();
  state.exact_exponents.clear();
  write_checkpoint(file, {state, {}, {}});
  EXPECT_EQ(state_digest(read_checkpoint(file).state), state_digest(state));
}

// An optimizer may hand over its state parameter by parameter.
TEST_F(CheckpointTest, TensorsOfOneGroupNeedNotFollowOneAnother) {
  TrainingState state = example_state();
  state.optimizer = {{"first/a", {1}, {1}}, {"second/a", {1}, {2}}, {"first/b", {1}, {3}}};
  write_checkpoint(file, {state, {}, {}});
  EXPECT_EQ(state_digest(read_checkpoint(file).state), state_digest(state));
}

TEST_F(CheckpointTest, DamageIsSeenBeforeHdf5SeesIt) {
  write_checkpoint(file, {example_state(), {}, {}});
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(1000);
  stream.put('\xff');
  stream.close();
  EXPECT_THAT(refusal(), HasSubstr("does not match its checksum"));
}

TEST_F(CheckpointTest, AnotherFileWithAChecksumIsNotACheckpoint) {
  const std::string text = "not HDF5";
  commit_file_with_checksum(file, std::as_bytes(std::span<const char>(text)));
  EXPECT_THAT(refusal(), HasSubstr("not a checkpoint"));
  EXPECT_THAT(refusal(), HasSubstr(file.string()));
}

TEST_F(CheckpointTest, AnotherFormatVersionIsRefusedNamingBoth) {
  data::Hdf5Image image;
  hdf5::write_text(image.file(), "format", "rubato-checkpoint");
  hdf5::write_unsigned(image.file(), "format_version", 3);
  commit_file_with_checksum(file, image.take_bytes());
  EXPECT_THAT(refusal(), HasSubstr("found format version 3, this program reads version 2"));
}

TEST(CheckpointPath, NamesTheUpdate) {
  EXPECT_EQ(checkpoint_path("runs/a", 140), "runs/a/checkpoints/ckpt-140.h5");
}

}  // namespace
}  // namespace rubato::runtime
