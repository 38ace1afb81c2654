#include "app/capacity_history.hpp"

#include <gtest/gtest.h>

#include "data/errors.hpp"

namespace rubato::app {
namespace {

using HistoryRows = std::vector<CapacityRow>;

CapacityHistory parse(const std::string& text, const std::string& column = "") {
  return CapacityHistory::from_csv_text(text, "h.csv", column);
}

std::string refusal(const std::string& text, const std::string& column = "") {
  try {
    parse(text, column);
  } catch (const data::ContentError& error) {
    return error.what();
  }
  return "";
}

// The first, two middle and the last rows of a recorded history of GPUs on a shared cluster.
const std::string recorded =
    ",Time,GPUs\n0,1652434464.406314,56\n1,1652434527.406314,56\n2,1652434590.406314,48\n"
    "3,1652434653.406314,0\n";

TEST(CapacityHistory, CountsSecondsFromTheFirstRow) {
  const auto history = parse(recorded);
  EXPECT_EQ(history.rows(), (HistoryRows{{0, 56}, {63, 56}, {126, 48}, {189, 0}}));
  EXPECT_EQ(history.largest(), 56U);
}

TEST(CapacityHistory, GivesTheLastRowThatHasBegun) {
  const auto history = parse("time,TPU_cores\n10,8\n20,16\n30,4\n");
  EXPECT_EQ(history.devices_at(-1), 8U);
  EXPECT_EQ(history.devices_at(0), 8U);
  EXPECT_EQ(history.devices_at(9.99), 8U);
  EXPECT_EQ(history.devices_at(10), 16U);
  EXPECT_EQ(history.devices_at(20), 4U);
  EXPECT_EQ(history.devices_at(1e9), 4U);
}

TEST(CapacityHistory, TakesTheColumnAskedFor) {
  const std::string text = "# two kinds\nTIME,GPUs,devices,spare\n0,1,2,3\n";
  EXPECT_EQ(parse(text, "spare").rows()[0].devices, 3U);
  EXPECT_EQ(parse(text, "gpus").rows()[0].devices, 1U);
  EXPECT_EQ(refusal(text),
            "h.csv:2:11: found a second column \"devices\", expected one of the columns GPUs, "
            "TPU_cores, devices and capacity; or give --column NAME");
  EXPECT_EQ(refusal(text, "other"),
            "h.csv:2:1: found no such column in the header, expected one column \"other\"");
}

TEST(CapacityHistory, RefusesWithLineAndColumn) {
  EXPECT_EQ(refusal(""), "h.csv: the file is empty, expected a header with a column time");
  EXPECT_EQ(refusal("step,GPUs\n1,2\n"),
            "h.csv:1:1: found no such column in the header, expected one column time");
  EXPECT_EQ(refusal("time,GPUs\n0,4\n1\n"),
            "h.csv:3:1: found 1 fields, expected 2 as in the header");
  EXPECT_EQ(refusal("time,GPUs\nnoon,4\n"),
            "h.csv:2:1: found \"noon\", expected a time in seconds");
  EXPECT_EQ(refusal("time,GPUs\ninf,4\n"), "h.csv:2:1: found \"inf\", expected a time in seconds");
  const std::string number = ", expected a whole number of devices from 0 to 2147483647";
  EXPECT_EQ(refusal("time,GPUs\n0,4.5\n"), "h.csv:2:3: found \"4.5\"" + number);
  EXPECT_EQ(refusal("time,GPUs\n0,-1\n"), "h.csv:2:3: found \"-1\"" + number);
  EXPECT_EQ(refusal("time,GPUs\n0,2147483648\n"), "h.csv:2:3: found \"2147483648\"" + number);
  EXPECT_EQ(refusal("time,GPUs\n5,1\n5,2\n"),
            "h.csv:3:1: found \"5\", expected a time later than that of the row before");
  EXPECT_EQ(refusal("time,GPUs\n"), "h.csv: found no row with a device, expected at least one");
  EXPECT_EQ(refusal("time,GPUs\n0,0\n"),
            "h.csv: found no row with a device, expected at least one");
}

TEST(CapacityHistory, NamesAFileThatIsNotThere) {
  EXPECT_THROW(CapacityHistory::from_csv("/nowhere/h.csv", ""), data::MissingFileError);
}

}  // namespace
}  // namespace rubato::app
