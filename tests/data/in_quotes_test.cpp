// What a message shows of a file's content.
#include "data/in_quotes.hpp"

#include <gtest/gtest.h>

namespace rubato::data {
namespace {

TEST(InQuotes, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(in_quotes("64.5"), "\"64.5\"");
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("a\tb\r\n\"c\"\\"), R"("a\tb\r\n\"c\"\\")");
  EXPECT_EQ(in_quotes(std::string_view("\x1b[2J\0\x7f\xe9", 7)), R"("\x1b[2J\0\x7f\xe9")");
}

TEST(InQuotes, CutsLongText) {
  EXPECT_EQ(in_quotes("123456", 6), "\"123456\"");
  EXPECT_EQ(in_quotes("1234567", 6), "\"123456...\"");
}

}  // namespace
}  // namespace rubato::data
