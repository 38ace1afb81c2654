// All or nothing: a file counts with a checksum that matches it, and failures leave nothing behind.
#include "runtime/committed_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "data/errors.hpp"
#include "runtime/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text));
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string refusal(const std::filesystem::path& file) {
  try {
    read_checked_file(file);
  } catch (const data::ContentError& error) {
    return error.what();
  }
  return {};
}

std::size_t files_in(const std::filesystem::path& directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

class CommittedFileTest : public testing::Test {
 protected:
  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "state.bin";
  std::string content = std::string("first\0second", 12) + std::string(100000, 'x');
};

TEST_F(CommittedFileTest, IsReadBackAndReplaced) {
  commit_file_with_checksum(file, bytes_of("older"));
  commit_file_with_checksum(file, bytes_of(content));
  const std::vector<std::byte> read = read_checked_file(file);
  EXPECT_TRUE(std::ranges::equal(read, bytes_of(content)));
  EXPECT_EQ(files_in(directory.path()), 2U);
}

TEST_F(CommittedFileTest, ItsChecksumIsReadByTheUsualTool) {
  commit_file_with_checksum(file, bytes_of(content));
  const std::string command =
      "cd '" + directory.path().string() + "' && sha256sum -c state.bin.sha256 >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(CommittedFileTest, EverySingleChangedByteIsSeen) {
  commit_file_with_checksum(file, bytes_of("sixteen bytes..."));
  for (std::size_t i = 0; i < 16; ++i) {
    std::string damaged = "sixteen bytes...";
    damaged[i] ^= 1;
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_THAT(refusal(file), HasSubstr("does not match its checksum"));
  }
  std::ofstream(file, std::ios::binary) << "sixteen bytes..";
  EXPECT_THAT(refusal(file), HasSubstr("does not match its checksum"));
}

TEST_F(CommittedFileTest, EverySingleChangedByteOfItsChecksumIsSeen) {
  commit_file_with_checksum(file, bytes_of(content));
  const std::string good = content_of(checksum_file_of(file));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] ^= 1;
    EXPECT_THROW(require_checksum(file, bytes_of(content), damaged), data::ContentError) << i;
    EXPECT_THROW(require_checksum(file, bytes_of(content), good.substr(0, i)), data::ContentError);
  }
  EXPECT_THROW(require_checksum(file, bytes_of(content), good + "\n"), data::ContentError);
  EXPECT_NO_THROW(require_checksum(file, bytes_of(content), good));
}

// Between the two renames of a replacement, either file stands beside the new checksum file.
TEST_F(CommittedFileTest, AReplacedFileCountsBesideTheChecksumThatReplacesIt) {
  commit_file_with_checksum(file, bytes_of("older"));
  commit_file_with_checksum(file, bytes_of(content));
  const std::string text = content_of(checksum_file_of(file));
  EXPECT_NO_THROW(require_checksum(file, bytes_of("older"), text));
  EXPECT_NO_THROW(require_checksum(file, bytes_of(content), text));
  EXPECT_THROW(require_checksum(file, bytes_of("other"), text), data::ContentError);
  EXPECT_THROW(require_checksum(file, bytes_of("older"), text + "x"), data::ContentError);
  EXPECT_THROW(require_checksum(file, bytes_of("older"), text.substr(0, text.size() - 1)),
               data::ContentError);
  const std::string command =
      "cd '" + directory.path().string() + "' && sha256sum --strict -c state.bin.sha256 >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(CommittedFileTest, ADamagedFileIsReplacedWithoutATrace) {
  commit_file_with_checksum(file, bytes_of("older"));
  std::ofstream(file, std::ios::binary) << "oldex";
  commit_file_with_checksum(file, bytes_of(content));
  EXPECT_EQ(content_of(checksum_file_of(file)).find("replaces"), std::string::npos);
  EXPECT_EQ(read_checked_file(file).size(), content.size());
}

TEST_F(CommittedFileTest, ManyBlocksAreOneFile) {
  std::string large(9'000'001, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 8U);
  commit_file_with_checksum(file, bytes_of(large));
  EXPECT_TRUE(std::ranges::equal(read_checked_file(file), bytes_of(large)));
  commit_file_with_checksum(file, {});
  EXPECT_TRUE(read_checked_file(file).empty());
}

TEST_F(CommittedFileTest, BeforePlacingTheOldOneIsStillThereAndCanStay) {
  commit_file_with_checksum(file, bytes_of("older"));
  const auto refuse = [this] {
    EXPECT_EQ(content_of(file), "older");
    throw WriteError("no");
  };
  EXPECT_THROW(commit_file_with_checksum(file, bytes_of(content), refuse), WriteError);
  EXPECT_TRUE(std::ranges::equal(read_checked_file(file), bytes_of("older")));
  EXPECT_EQ(files_in(directory.path()), 2U);
}

TEST_F(CommittedFileTest, WithoutItsChecksumItDoesNotCount) {
  commit_file(file, bytes_of(content));
  EXPECT_EQ(content_of(file), content);
  EXPECT_THAT(refusal(file), HasSubstr("sha256sum state.bin > state.bin.sha256"));
}

TEST_F(CommittedFileTest, AMissingFileIsNamed) {
  try {
    read_checked_file(file);
    ADD_FAILURE();
  } catch (const data::MissingFileError& error) {
    EXPECT_THAT(error.what(), HasSubstr(file.string()));
  }
}

TEST_F(CommittedFileTest, AFailureNamesTheFileAndLeavesNothing) {
  const std::filesystem::path missing = directory.path() / "none" / "state.bin";
  try {
    commit_file_with_checksum(missing, bytes_of(content));
    ADD_FAILURE();
  } catch (const WriteError& error) {
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
  std::filesystem::create_directory(file);  // the rename fails
  EXPECT_THROW(commit_file(file, bytes_of(content)), WriteError);
  EXPECT_EQ(files_in(directory.path()), 1U);
}

}  // namespace
}  // namespace rubato::runtime
