#include "app/file_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "temporary_file.hpp"

namespace rubato::app {
namespace {

TEST(FileText, IsTheWholeFileByteByByte) {
  const std::string text("a\r\n\0b\xFF", 6);
  const TemporaryFile file(text);
  EXPECT_EQ(file_text(file.path()), text);
}

TEST(FileText, IsWholeBeyondOneBlock) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i);
  const TemporaryFile file(text);
  EXPECT_EQ(read_text(file.path()), text);
}

TEST(FileText, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(file_text("/nowhere/at/all"), "");
  EXPECT_FALSE(read_text("/nowhere/at/all"));
  EXPECT_EQ(read_text("/dev/null"), "");
}

// A directory opens and refuses to be read, as a process's files do once it has ended.
TEST(FileText, IsEmptyWhereReadingFails) {
  EXPECT_EQ(file_text("/"), "");
  EXPECT_FALSE(read_text("/"));
}

}  // namespace
}  // namespace rubato::app
