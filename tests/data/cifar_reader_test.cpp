// CIFAR-10 records put together by hand.
#include "data/cifar_reader.hpp"

#include <gtest/gtest.h>

#include "binary_content.hpp"
#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

// Pixel (channel, row, column) of record `record` has a value of its own.
std::uint8_t pixel(std::size_t record, std::size_t channel, std::size_t row, std::size_t column) {
  return static_cast<std::uint8_t>(record * 101 + channel * 67 + row * 5 + column);
}

std::string record(char label, std::size_t number) {
  std::string content(1, label);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t y = 0; y < 32; ++y) {
      for (std::size_t x = 0; x < 32; ++x) content += static_cast<char>(pixel(number, c, y, x));
    }
  }
  return content;
}

TEST(CifarReader, BringsChannelsLastAcrossFiles) {
  const TemporaryDirectory directory;
  const auto first = directory.write("1.bin", record(3, 0) + record(9, 1));
  const auto second = directory.write("2.bin", record(0, 2));
  const RawSamples samples = read_cifar10({first, second});
  EXPECT_EQ(samples.shape, (SampleShape{32, 32, 3}));
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{3, 9, 0}));
  const auto& values = std::get<std::vector<std::uint8_t>>(samples.values);
  ASSERT_EQ(values.size(), 3U * 3072);
  std::size_t at = 0;
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t y = 0; y < 32; ++y) {
      for (std::size_t x = 0; x < 32; ++x) {
        for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(values[at++], pixel(n, c, y, x));
      }
    }
  }
}

TEST(CifarReader, RefusesWrongLengthsAndLabels) {
  const auto refusal = [](const std::string& content) {
    return thrown_message<ContentError>([&] {
      RawSamples samples{"", {}, std::vector<std::uint8_t>{}, {}};
      append_cifar10(bytes_of(content), "c.bin", samples);
    });
  };
  const std::string expected =
      " bytes, expected a multiple of 3073 (a label and 3 x 32 x 32 pixels for each image)";
  EXPECT_EQ(refusal(""), "c.bin: found 0" + expected);
  EXPECT_EQ(refusal(record(1, 0) + "x"), "c.bin: found 3074" + expected);
  EXPECT_EQ(refusal(record(1, 0).substr(1)), "c.bin: found 3072" + expected);
  EXPECT_EQ(refusal(record(1, 0) + record(10, 1)),
            "c.bin: found label 10 at byte 3073, expected 0 to 9");
}

}  // namespace
}  // namespace rubato::data
