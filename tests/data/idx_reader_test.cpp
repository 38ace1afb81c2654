// IDX files put together byte by byte: good ones, and one wrong thing at a time.
#include "data/idx_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "binary_content.hpp"
#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

std::string refusal_of_idx(const std::string& content, std::size_t rank = 3) {
  return thrown_message<ContentError>([&] { parse_idx(bytes_of(content), "f.idx", rank); });
}

std::string counting_bytes(std::size_t size) {
  std::string values;
  for (std::size_t i = 0; i < size; ++i) values += static_cast<char>(i * 3 + 1);
  return values;
}

TEST(IdxReader, ReadsSizesAndValuesInOrder) {
  const std::string content = idx_content(8, {2, 3, 4}, counting_bytes(24));
  for (const std::string& form : {content, gzip(content)}) {
    const IdxArray array = parse_idx(bytes_of(form), "f.idx", 3);
    EXPECT_EQ(array.sizes, (std::vector<std::size_t>{2, 3, 4}));
    ASSERT_EQ(array.values.size(), 24U);
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(array.values[i], i * 3 + 1);
  }
}

TEST(IdxReader, RefusesWhatIsNoIdxFileOfBytes) {
  EXPECT_EQ(refusal_of_idx("PNG image"),
            "f.idx: not an IDX file: found 0x50 0x4e as its first bytes, expected 0x00 0x00");
  EXPECT_EQ(refusal_of_idx(idx_content(0x0d, {1, 1, 1}, "abcd")),
            "f.idx: found IDX type 0x0d at byte 2, expected 0x08 (unsigned bytes)");
  EXPECT_EQ(refusal_of_idx(idx_content(8, {1}, "a")),
            "f.idx: found 1 IDX dimensions at byte 3, expected 3 (images, rows, columns)");
  EXPECT_EQ(refusal_of_idx(idx_content(8, {1, 1, 1, 1}, "a"), 1),
            "f.idx: found 4 IDX dimensions at byte 3, expected 1 (labels)");
}

TEST(IdxReader, RefusesEveryTruncation) {
  const std::string content = idx_content(8, {2, 3, 4}, counting_bytes(24));
  for (std::size_t size = 0; size < content.size(); ++size) {
    EXPECT_THAT(refusal_of_idx(content.substr(0, size)), HasSubstr("f.idx: ")) << size;
  }
  EXPECT_EQ(refusal_of_idx(content.substr(0, 9)),
            "f.idx: ends after 9 bytes, in the IDX header, which needs 3 more");
  EXPECT_EQ(
      refusal_of_idx(content.substr(0, 30)),
      "f.idx: ends after 30 bytes, in the 2 x 3 x 4 values of its header, which needs 10 more");
}

TEST(IdxReader, RefusesBytesThatTheHeaderDoesNotPromise) {
  EXPECT_EQ(refusal_of_idx(idx_content(8, {2, 3, 4}, counting_bytes(25))),
            "f.idx: found more bytes than the 2 x 3 x 4 that its header promises");
}

TEST(IdxReader, RefusesDimensionsThatOverflowOrAreEmpty) {
  EXPECT_EQ(refusal_of_idx(idx_content(8, {0xffffffff, 0xffffffff, 0xffffffff}, "abc")),
            "f.idx: found IDX dimensions 4294967295 x 4294967295 x 4294967295, whose product "
            "exceeds 64 bits");
  EXPECT_EQ(refusal_of_idx(idx_content(8, {0, 28, 28}, "")),
            "f.idx: found IDX dimensions 0 x 28 x 28, expected at least 1 each");
}

TEST(IdxReader, RefusesAHugePromiseBeforeAllocating) {
  EXPECT_THAT(refusal_of_idx(idx_content(8, {60000, 65536, 65536}, "abc")),
              HasSubstr("its header promises 60000 x 65536 x 65536"));
  EXPECT_THAT(refusal_of_idx(gzip(idx_content(8, {60000, 65536, 65536}, "abc"))),
              HasSubstr("but the file can hold at most"));
}

TEST(IdxReader, StopsAGzipBombAtWhatTheHeaderPromises) {
  const std::string bomb =
      gzip(idx_content(8, {2, 3, 4}, std::string(std::size_t{64} << 20U, 'x')));
  ASSERT_LT(bomb.size(), 200'000U);
  EXPECT_EQ(refusal_of_idx(bomb),
            "f.idx: found more bytes than the 2 x 3 x 4 that its header promises");
}

TEST(IdxReader, PairsImagesWithLabels) {
  const TemporaryDirectory directory;
  const auto images = directory.write("i", idx_content(8, {2, 2, 3}, counting_bytes(12)));
  const auto labels = directory.write("l.gz", gzip(idx_content(8, {2}, "\x07\x01")));
  const RawSamples samples = read_idx(images, labels);
  EXPECT_EQ(samples.shape, (SampleShape{2, 3, 1}));
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{7, 1}));
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(samples.values).back(), 34);

  const auto three = directory.write("l3", idx_content(8, {3}, "abc"));
  EXPECT_EQ(
      thrown_message<ContentError>([&] { read_idx(images, three); }),
      three.string() + ": found 3 labels, expected 2, one for each image of " + images.string());
}

}  // namespace
}  // namespace rubato::data
