// Labelled rows: what is accepted, and the one sentence for each thing that is not.
#include "data/csv_reader.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <stdexcept>

#include "binary_content.hpp"
#include "data/errors.hpp"
#include "tests/data/float_values.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

RawSamples parse(const std::string& text, const CsvOptions& options = {}) {
  return parse_csv(bytes_of(text), "d.csv", options);
}

std::string refusal_of_csv(const std::string& text, const CsvOptions& options = {}) {
  return thrown_message<ContentError>([&] { parse(text, options); });
}

TEST(CsvReader, TakesTheLastColumnAsLabel) {
  const RawSamples samples = parse("1.5,-2,0\n4e1,.25,3\n");
  EXPECT_EQ(samples.shape, (SampleShape{1, 1, 2}));
  EXPECT_EQ(float_values(samples), (std::vector<float>{1.5F, -2, 40, 0.25F}));
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{0, 3}));
}

TEST(CsvReader, PassesOverAHeaderByteOrderMarkAndCarriageReturns) {
  const RawSamples samples = parse("\xef\xbb\xbfwidth, height, kind\r\n1,2,1.0\r\n");
  EXPECT_EQ(float_values(samples), (std::vector<float>{1, 2}));
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{1}));
}

TEST(CsvReader, FindsTheLabelByNameOrNumber) {
  const std::string text = "width,kind,height\n1,7,2\n";
  for (const char* column : {"kind", "1"}) {
    const RawSamples samples = parse(text, {std::nullopt, column});
    EXPECT_EQ(float_values(samples), (std::vector<float>{1, 2}));
    EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{7}));
  }
}

TEST(CsvReader, BringsAShapeToChannelsLast) {
  const RawSamples samples = parse("1,2,3,4,5,6,9\n", {SampleShape{1, 3, 2}, std::nullopt});
  EXPECT_EQ(samples.shape, (SampleShape{1, 3, 2}));
  EXPECT_EQ(float_values(samples), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(CsvReader, ReadsGzipFromAFile) {
  const TemporaryDirectory directory;
  const auto file = directory.write("d.csv.gz", gzip("1,0\n2,1\n"));
  EXPECT_EQ(float_values(read_csv(file, {})), (std::vector<float>{1, 2}));
}

TEST(CsvReader, DoesNotHeedTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  std::setlocale(LC_NUMERIC, "de_DE.UTF-8");  // has no effect where it is not installed
  EXPECT_EQ(float_values(parse("1.5,0\n")), (std::vector<float>{1.5F}));
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST(CsvReader, RefusesWrongRows) {
  EXPECT_EQ(refusal_of_csv(""), "d.csv: the file is empty, expected rows of numbers");
  EXPECT_EQ(refusal_of_csv("a,b\n"), "d.csv: found a header and no row, expected samples");
  EXPECT_EQ(refusal_of_csv("1\n"), "d.csv: found a single column, expected features and a label");
  EXPECT_EQ(refusal_of_csv("1,2,0\n1,0\n"),
            "d.csv:2:1: found 2 fields, expected 3 as in the first line");
  EXPECT_EQ(refusal_of_csv("1,2,0\n\n"), "d.csv:2:1: found an empty line, expected a sample");
  EXPECT_EQ(refusal_of_csv("1,2,0\n1,,0\n"), "d.csv:2:3: found nothing, expected a finite number");
  EXPECT_EQ(refusal_of_csv("1,2,0\n1, x1,0\n"),
            "d.csv:2:4: found \"x1\", expected a finite number");
  EXPECT_EQ(refusal_of_csv("1,2,0\n1,\"2\",0\n"),
            "d.csv:2:3: found a quotation mark, expected plain fields without quotes");
  EXPECT_EQ(refusal_of_csv(std::string("1,2,0\n1,\0,0\n", 12)),
            "d.csv:2:3: found a NUL byte, expected text");
  for (const std::string bad : {"nan", "inf", "-inf", "1e39", "1e999", "0x1p3", "1.5.2"}) {
    EXPECT_EQ(refusal_of_csv("1,2,0\n1," + bad + ",0\n"),
              "d.csv:2:3: found \"" + bad + "\", expected a finite number");
  }
}

TEST(CsvReader, RefusesWrongLabels) {
  for (const std::string bad : {"-1", "0.5", "1000000", "nan", "cat"}) {
    EXPECT_EQ(refusal_of_csv("1,2,0\n1,2," + bad + "\n"),
              "d.csv:2:5: found \"" + bad +
                  "\" in the label column, expected a whole number from 0 to 999999");
  }
  EXPECT_EQ(
      refusal_of_csv("1,2,0\n1,2,\n"),
      "d.csv:2:5: found nothing in the label column, expected a whole number from 0 to 999999");
}

TEST(CsvReader, RefusesOptionsThatDoNotFit) {
  const auto wrong_option = [](const CsvOptions& options) {
    return thrown_message<std::invalid_argument>([&] { parse("width,kind\n1,7\n", options); });
  };
  EXPECT_EQ(wrong_option({std::nullopt, "colour"}),
            "label-column: found \"colour\", expected a name from the header or a number from 0 to "
            "1, a column of d.csv");
  EXPECT_EQ(wrong_option({std::nullopt, "2"}),
            "label-column: found \"2\", expected a name from the header or a number from 0 to 1, a "
            "column of d.csv");
  EXPECT_EQ(wrong_option({SampleShape{2, 3, 4}, std::nullopt}),
            "shape: found 4x2x3 = 24 values, expected the 1 features of d.csv");
}

}  // namespace
}  // namespace rubato::data
