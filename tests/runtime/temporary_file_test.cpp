// A temporary file takes its name or leaves nothing; what fails names the file it was for.
#include "runtime/temporary_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> as_bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text));
}

class TemporaryFileTest : public testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

  TemporaryDirectory scratch;
  const Directory directory{scratch.path()};
};

TEST_F(TemporaryFileTest, TakesItsNameWhenPlaced) {
  TemporaryFile temporary(directory, "final", 11);
  temporary.write(as_bytes_of("one"));
  temporary.write(as_bytes_of(" and two"));
  temporary.flush();
  ASSERT_EQ(names().size(), 1U);
  EXPECT_TRUE(is_temporary_name(names()[0])) << names()[0];
  EXPECT_THAT(names()[0], AllOf(HasSubstr("-final-"), HasSubstr(std::to_string(::getpid()))));
  temporary.place();
  EXPECT_THAT(names(), ElementsAre("final"));
  EXPECT_FALSE(is_temporary_name("final"));
  std::ostringstream text;
  text << std::ifstream(scratch.path() / "final").rdbuf();
  EXPECT_EQ(text.str(), "one and two");
}

TEST_F(TemporaryFileTest, LeavesNothingOtherwise) {
  {
    TemporaryFile temporary(directory, "final", 3);
    temporary.write(as_bytes_of("one"));
    temporary.flush();
  }
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(TemporaryFileTest, TwoOfOneNameDoNotMeet) {
  TemporaryFile first(directory, "final", 3);
  TemporaryFile second(directory, "final", 3);
  EXPECT_EQ(names().size(), 2U);
}

// A size limit of the process stands for a full disk.
TEST_F(TemporaryFileTest, MoreThanThereIsRoomForIsRefusedBeforeAnythingIsWritten) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit one_kibibyte{1024, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &one_kibibyte), 0);
  std::string sentence;
  try {
    const TemporaryFile temporary(directory, "final", 1025);
  } catch (const WriteError& error) {
    sentence = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(sentence, "cannot write " + (scratch.path() / "final").string() + ": File too large");
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(TemporaryFileTest, AMissingDirectoryIsNamed) {
  try {
    const Directory missing(scratch.path() / "none");
    ADD_FAILURE();
  } catch (const WriteError& error) {
    EXPECT_EQ(std::string(error.what()), "cannot open directory " + scratch.path().string() +
                                             "/none: No such file or directory");
  }
}

TEST(DirectoryOf, AFileAndANameAlone) {
  EXPECT_EQ(directory_of("a/b/c.h5"), "a/b");
  EXPECT_EQ(directory_of("/c.h5"), "/");
  EXPECT_EQ(directory_of("c.h5"), ".");
}

TEST_F(TemporaryFileTest, RemovingTwiceIsNoError) {
  std::ofstream(scratch.path() / "old") << "x";
  directory.remove("old");
  directory.remove("old");
  directory.flush();
  EXPECT_THAT(names(), ElementsAre());
  std::filesystem::create_directory(scratch.path() / "folder");
  EXPECT_THROW(directory.remove("folder"), WriteError);
}

}  // namespace
}  // namespace rubato::runtime
