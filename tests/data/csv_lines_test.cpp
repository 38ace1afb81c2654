// Lines and fields with their places.
#include "data/csv_lines.hpp"

#include <gtest/gtest.h>

#include "binary_content.hpp"
#include "data/errors.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

struct Line {
  std::uint64_t number;
  std::vector<std::string> fields;
  std::vector<std::size_t> columns;
  bool operator==(const Line&) const = default;
};

std::vector<Line> lines_of(const std::string& content) {
  ByteStream stream(bytes_of(content), "f");
  CsvLines lines(stream);
  std::vector<Line> all;
  while (lines.next()) {
    Line line{lines.line(), {}, {}};
    for (const CsvField& field : lines.fields()) {
      line.fields.emplace_back(field.text);
      line.columns.push_back(field.column);
    }
    all.push_back(line);
  }
  return all;
}

TEST(CsvLines, SplitsAndTrimsAndCounts) {
  const std::vector<Line> expected = {
      {2, {"a", "b c", ""}, {1, 5, 11}}, {3, {""}, {1}}, {4, {"d"}, {2}}};
  EXPECT_EQ(lines_of("# first\na,  b c ,\t\n\n d"), expected);
  EXPECT_EQ(lines_of("# first\r\na,  b c ,\t\r\n\r\n d\r\n"), expected);
}

TEST(CsvLines, EmptyContentHasNoLine) { EXPECT_TRUE(lines_of("").empty()); }

TEST(CsvLines, LinesMayCrossTheBlocksInWhichTheyAreRead) {
  std::string content;
  std::vector<Line> expected;
  for (std::uint64_t i = 1; i <= 40; ++i) {  // 40 lines of up to 39 KB, read in blocks of 64 KiB
    const std::string field(i * 997, static_cast<char>('a' + i % 26));
    content += field + "," + std::to_string(i) + "\n";
    expected.push_back({i, {field, std::to_string(i)}, {1, field.size() + 2}});
  }
  EXPECT_EQ(lines_of(content), expected);
  EXPECT_EQ(lines_of(gzip(content)), expected);
}

TEST(CsvLines, RefusesLinesOverOneMebibyteEvenOutOfAGzipBomb) {
  const std::string bomb = gzip("a\n" + std::string(std::size_t{32} << 20U, 'x'));
  EXPECT_EQ(thrown_message<ContentError>([&] { lines_of(bomb); }),
            "f:2:1: found a line longer than 1 MiB, expected short comma-separated fields");
}

}  // namespace
}  // namespace rubato::data
