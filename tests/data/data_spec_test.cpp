// The words after --data.
#include "data/data_spec.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using Settings = std::map<std::string, std::string>;

TEST(DataSpec, SplitsKindPlaceAndSettings) {
  EXPECT_EQ(parse_data_spec("digits", {}).kind, "digits");
  const DataSpec with_comma = parse_data_spec("csv:a,b=1.csv,shape=1x2x3", {"shape"});
  EXPECT_EQ(with_comma.place, "a,b=1.csv");
  EXPECT_EQ(with_comma.settings, (Settings{{"shape", "1x2x3"}}));
  const DataSpec settings = parse_data_spec("synthetic:seed=1,samples=9", {"samples", "seed"});
  EXPECT_EQ(settings.place, "");
  EXPECT_EQ(settings.settings, (Settings{{"samples", "9"}, {"seed", "1"}}));
  EXPECT_EQ(parse_data_spec("idx:C:/data", {}).place, "C:/data");
  EXPECT_EQ(thrown_message<std::invalid_argument>(
                [] { parse_data_spec("synthetic:seed=1,seed=2", {"seed"}); }),
            "synthetic: found the setting seed twice");
}

TEST(DataSpec, ReadsShapesAsChannelsHeightWidth) {
  EXPECT_EQ(parse_shape("3x32x64", "shape"), (SampleShape{32, 64, 3}));
  for (const char* bad : {"", "3", "3x32"}) {
    EXPECT_THROW(parse_shape(bad, "shape"), std::invalid_argument) << bad;
  }
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { parse_shape("3x0x2", "csv shape"); }),
            "csv shape: found \"0\", expected a whole number from 1 to 65536");
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { parse_shape("3x3x2x1", "csv shape"); }),
            "csv shape: found \"2x1\", expected a whole number from 1 to 65536");
}

TEST(DataSpec, ReadsWholeNumbersInBounds) {
  EXPECT_EQ(parse_whole_number("7", "n", 1, 9), 7U);
  for (const char* bad : {"", "-1", "0", "10", "7.0", "7x", "99999999999999999999"}) {
    EXPECT_THROW(parse_whole_number(bad, "n", 1, 9), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace rubato::data
