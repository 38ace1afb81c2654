// Reading bytes through gzip, and what a hostile file costs.
#include "data/byte_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "binary_content.hpp"
#include "data/errors.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

std::string varied_text(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * i + i / 7) % 26);
  return text;
}

std::string read_all(const std::string& content, std::size_t piece) {
  ByteStream stream(bytes_of(content), "f");
  std::string all;
  std::string part(piece, '\0');
  while (const std::size_t got = stream.read_some(std::as_writable_bytes(std::span(part)))) {
    all += part.substr(0, got);
  }
  return all;
}

TEST(ByteStream, GivesPlainAndCompressedContentAlike) {
  const std::string text = varied_text(200'001);
  for (const std::size_t piece : {1U, 7U, 65536U, 300'000U}) {
    EXPECT_EQ(read_all(text, piece), text) << piece;
    EXPECT_EQ(read_all(gzip(text), piece), text) << piece;
  }
}

TEST(ByteStream, JoinsTheMembersOfAGzipFile) {
  EXPECT_EQ(read_all(gzip("one ") + gzip("") + gzip("two"), 5), "one two");
}

TEST(ByteStream, RefusesBytesAfterTheGzipData) {
  EXPECT_THAT(thrown_message<ContentError>([] { read_all(gzip("one") + "junk", 100); }),
              HasSubstr("f: the file has bytes after the end of its gzip data"));
}

TEST(ByteStream, RefusesGzipDataCutOffAnywhere) {
  const std::string whole = gzip(varied_text(1000));
  for (std::size_t size = 2; size < whole.size(); ++size) {
    EXPECT_THAT(thrown_message<ContentError>([&] { read_all(whole.substr(0, size), 64); }),
                HasSubstr("f: the file is cut off"))
        << size;
  }
}

TEST(ByteStream, RefusesDamagedGzipData) {
  std::string damaged = gzip(varied_text(1000));
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // the checksum
  EXPECT_THAT(thrown_message<ContentError>([&] { read_all(damaged, 64); }),
              HasSubstr("f: the file has damaged gzip data (incorrect data check)"));
}

TEST(ByteStream, SaysWhatIsMissing) {
  ByteStream stream(bytes_of("abcdef"), "f");
  std::string part(4, '\0');
  stream.read_exactly(std::as_writable_bytes(std::span(part)), "the head");
  EXPECT_EQ(part, "abcd");
  EXPECT_EQ(thrown_message<ContentError>(
                [&] { stream.read_exactly(std::as_writable_bytes(std::span(part)), "the tail"); }),
            "f: ends after 6 bytes, in the tail, which needs 2 more");
}

TEST(ByteStream, KnowsWhetherSomethingIsLeft) {
  for (const std::string& content : {std::string("ab"), gzip("ab")}) {
    ByteStream stream(bytes_of(content), "f");
    std::string part(1, '\0');
    stream.read_exactly(std::as_writable_bytes(std::span(part)), "a");
    EXPECT_FALSE(stream.finished());
    EXPECT_TRUE(stream.finished());  // the question took the second byte
  }
}

TEST(ByteStream, BoundsWhatACompressedFileCanHold) {
  const std::string zeros(std::size_t{8} << 20U, '\0');
  const std::string bomb = gzip(zeros);
  const ByteStream stream(bytes_of(bomb), "f");
  EXPECT_TRUE(stream.is_compressed());
  EXPECT_GE(stream.most_bytes(), zeros.size());
  EXPECT_LE(stream.most_bytes(), zeros.size() + zeros.size() / 10);
  EXPECT_EQ(ByteStream(bytes_of("abc"), "f").most_bytes(), 3U);
}

}  // namespace
}  // namespace rubato::data
