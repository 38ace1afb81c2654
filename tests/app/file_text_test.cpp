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

TEST(FileText, IsEmptyWhereThereIsNone) { EXPECT_EQ(file_text("/nowhere/at/all"), ""); }

}  // namespace
}  // namespace rubato::app
