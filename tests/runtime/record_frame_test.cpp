// Checksums against the vectors of RFC 3720, appendix B.4; frames byte by byte.
#include "runtime/record_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace rubato::runtime {
namespace {

std::string counting(int first, int step) {
  std::string bytes(32, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] {
    const auto byte = static_cast<char>(first);
    first += step;
    return byte;
  });
  return bytes;
}

// The RFC prints checksums as they are sent, the least significant byte first.
TEST(Crc32c, IsThatOfTheStandardsExamples) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(counting(0, 1)), 0x46DD794EU);
  EXPECT_EQ(crc32c(counting(31, -1)), 0x113FDB5CU);
  const std::string read_command(
      "\x01\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x14\0\0\0\0\0\x04\0\0\0\0\x14\0\0\0\x18"
      "\x28\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0",
      48);
  EXPECT_EQ(crc32c(read_command), 0xD9963A56U);
}

TEST(Crc32c, OfNothingIsZeroAndOfTheNineDigitsTheCheckValue) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
}

TEST(MaskedChecksum, IsRotatedBy15BitsAndShiftedByAConstant) {
  EXPECT_EQ(masked(0), 0xA282EAD8U);
  EXPECT_EQ(masked(1U << 15U), 0xA282EAD9U);
  EXPECT_EQ(masked(1), 0xA282EAD8U + 0x20000U);
  EXPECT_EQ(masked(0xFFFFFFFFU), 0xA282EAD7U);  // the sum wraps around
}

TEST(Framed, HasLengthAndBothChecksumsAroundTheContent) {
  const std::string record = framed(std::string("\x18\x00", 2));
  ASSERT_EQ(record.size(), 18U);
  EXPECT_EQ(record.substr(0, 8), std::string("\x02\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 2), std::string("\x18\x00", 2));
  const auto number = [&](std::size_t place) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) {
      value = value << 8U | static_cast<unsigned char>(record[place + i]);
    }
    return value;
  };
  EXPECT_EQ(number(8), masked(crc32c(record.substr(0, 8))));
  EXPECT_EQ(number(14), masked(crc32c(record.substr(12, 2))));
}

TEST(Framed, OfNothingIsAFrameAlone) { EXPECT_EQ(framed("").size(), 16U); }

}  // namespace
}  // namespace rubato::runtime
