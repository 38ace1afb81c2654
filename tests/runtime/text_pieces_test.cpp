#include "runtime/text_pieces.hpp"

#include <gtest/gtest.h>

namespace rubato::runtime {
namespace {

TEST(TextPieces, ATextOfAnyLengthComesBack) {
  for (const std::size_t bytes : {1UL, 16384UL, 16385UL, 100000UL}) {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 23);
    std::vector<ContextEntry> entries{{"other", "x"}};
    append_in_pieces("job", text, entries);
    append_in_pieces("job two", "of another name", entries);
    EXPECT_EQ(entries.size(), 2 + (bytes + 16383) / 16384);
    for (const ContextEntry& entry : entries) EXPECT_LE(entry.value.size(), 16384U);
    EXPECT_EQ(joined_pieces(entries, "job"), text);
    EXPECT_EQ(joined_pieces(entries, "job two"), "of another name");
  }
}

TEST(TextPieces, NoTextIsNoEntry) {
  std::vector<ContextEntry> entries;
  append_in_pieces("job", "", entries);
  EXPECT_TRUE(entries.empty());
  EXPECT_EQ(joined_pieces(entries, "job"), "");
}

}  // namespace
}  // namespace rubato::runtime
