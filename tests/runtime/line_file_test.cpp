// Lines survive a full disk, in order and whole. The disk is full where the process's limit of file
// size says so: it can be widened again.
#include "runtime/line_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "runtime/errors.hpp"
#include "tests/runtime/small_disk.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LineFileTest : public testing::Test {
 protected:
  std::string content() const {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "lines";
};

TEST_F(LineFileTest, LinesAreInTheFileAsTheyCome) {
  LineFile lines(file, 0);
  lines.append("first");
  EXPECT_EQ(content(), "first\n");
  lines.append("");
  lines.append("third");
  EXPECT_EQ(content(), "first\n\nthird\n");
  EXPECT_EQ(lines.take_failure(), std::nullopt);
  lines.finish();
}

TEST_F(LineFileTest, WhatIsKeptStaysAndTheRestIsCutOff) {
  std::ofstream(file) << "first\nsecond\nthi";
  LineFile(file, 6).append("2nd");
  EXPECT_EQ(content(), "first\n2nd\n");
  LineFile(file, 0).append("new");
  EXPECT_EQ(content(), "new\n");
}

TEST_F(LineFileTest, AfterAFullDiskNoLineIsMissingOrTorn) {
  LineFile lines(file, 0);
  {
    const SmallDisk disk(8);  // two bytes into the second line
    for (const char* const line : {"first", "second", "third"}) lines.append(line);
    EXPECT_EQ(content(), "first\nse");
    EXPECT_THAT(lines.take_failure().value(),
                AllOf(HasSubstr("cannot write " + file.string() + ": File too large"),
                      HasSubstr("kept in memory")));
    lines.append("fourth");
    EXPECT_EQ(lines.take_failure(), std::nullopt);  // told once
    EXPECT_THROW(lines.finish(), WriteError);
  }
  lines.append("fifth");
  EXPECT_EQ(content(), "first\nsecond\nthird\nfourth\nfifth\n");
  lines.finish();
}

TEST_F(LineFileTest, EachOutageIsTold) {
  LineFile lines(file, 0);
  for (int outage = 0; outage < 2; ++outage) {
    {
      const SmallDisk disk(0);
      lines.append("line");
      EXPECT_TRUE(lines.take_failure());
    }
    lines.sync();
    EXPECT_FALSE(lines.take_failure());
  }
  EXPECT_EQ(content(), "line\nline\n");
}

TEST_F(LineFileTest, TheLastAttemptNamesHowManyLinesAreMissing) {
  LineFile lines(file, 0);
  const SmallDisk disk(3);
  lines.append("first");
  lines.append("second");
  try {
    lines.finish();
    ADD_FAILURE();
  } catch (const WriteError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(file.string() + ": File too large"),
                                    HasSubstr("2 lines are missing")));
  }
}

TEST_F(LineFileTest, TheOldestLinesAreDroppedButForTheRestOfATornOne) {
  LineFile lines(file, 0, /*memory_bytes=*/16);
  {
    const SmallDisk disk(2);
    for (int i = 0; i < 9; ++i) lines.append("line" + std::to_string(i));  // 6 bytes each
  }
  lines.sync();
  EXPECT_EQ(content(), "line0\nline8\n");
  EXPECT_THROW(lines.finish(), WriteError);
}

TEST_F(LineFileTest, AnotherThreadMayFlush) {
  LineFile lines(file, 0);
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) lines.sync();
  });
  std::string expected;
  for (int i = 0; i < 500; ++i) {
    lines.append(std::to_string(i));
    expected += std::to_string(i) + "\n";
  }
  other.request_stop();
  other.join();
  EXPECT_EQ(content(), expected);
}

TEST_F(LineFileTest, WhatCannotBeMadeIsNamed) {
  try {
    LineFile lines("/nonexistent/lines", 0);
    ADD_FAILURE();
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/lines"));
  }
  std::filesystem::create_symlink("elsewhere", file);
  EXPECT_THROW(LineFile(file, 0), OutputError);
}

}  // namespace
}  // namespace rubato::runtime
