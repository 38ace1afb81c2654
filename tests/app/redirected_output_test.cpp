#include "app/redirected_output.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "runtime/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

TEST(RedirectedOutput, TakesBothStreamsAndThoseOfChildren) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "log";
  testing::internal::CaptureStdout();
  std::cout << "before ";
  {
    const RedirectedOutput to_file(file);
    std::cout << "output\n";
    ASSERT_EQ(std::system("echo child >&2"), 0);
  }
  std::cout << "after";
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before after");
  EXPECT_EQ(last_line(file), "output");
  EXPECT_EQ(std::filesystem::file_size(file), std::string("child\noutput\n").size());
}

TEST(RedirectedOutput, Appends) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "log";
  std::ofstream(file) << "first\n\n";
  EXPECT_EQ(last_line(file), "first");
  {
    const RedirectedOutput to_file(file);
    std::cout << "second";
  }
  EXPECT_EQ(last_line(file), "second");
  EXPECT_EQ(std::filesystem::file_size(file), std::string("first\n\nsecond").size());
}

TEST(RedirectedOutput, NamesAFileThatCannotBeWritten) {
  EXPECT_THROW(RedirectedOutput("/nowhere/log"), runtime::OutputError);
  EXPECT_EQ(last_line("/nowhere/log"), "");
}

}  // namespace
}  // namespace rubato::app
