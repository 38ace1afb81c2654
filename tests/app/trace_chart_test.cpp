#include "app/trace_chart.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace rubato::app {
namespace {

struct Chart {
  std::vector<std::string> bars;  // from the top
  std::vector<double> labels;
  bool is_logarithmic = false;
};

Chart chart_of(std::vector<std::uint64_t> rows) {
  Chart chart;
  std::istringstream lines(draw(data::BatchTrace::from_rows(std::move(rows))));
  for (std::string line; std::getline(lines, line);) {
    chart.is_logarithmic |= line.find("logarithmic") != std::string::npos;
    const auto bar = line.find('|');
    if (bar == std::string::npos) continue;
    chart.labels.push_back(std::stod(line.substr(0, bar)));
    chart.bars.push_back(line.substr(bar + 1));
  }
  return chart;
}

TEST(TraceChart, IsLinearForSmallRanges) {
  const auto chart = chart_of({10, 20, 30, 40, 50, 60, 64, 60, 19, 10});
  ASSERT_EQ(chart.bars.size(), 10U);
  EXPECT_EQ(chart.bars.front(), "      #   ");
  EXPECT_EQ(chart.bars.back(), "##########");
  EXPECT_EQ(chart.labels.front(), 64);
  EXPECT_EQ(chart.labels.back(), 10);
  EXPECT_EQ(chart.labels[8] - chart.labels[9], 6);
  EXPECT_FALSE(chart.is_logarithmic);
}

TEST(TraceChart, IsLogarithmicForLargeOnes) {
  // Ten lines for factors of 2^0 ... 2^9.
  const auto chart = chart_of({1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
  EXPECT_TRUE(chart.is_logarithmic);
  for (std::size_t line = 0; line < 10; ++line) {
    EXPECT_EQ(chart.bars[line], std::string(9 - line, ' ') + std::string(line + 1, '#'));
    EXPECT_EQ(chart.labels[line], 1U << (9 - line));
  }
}

TEST(TraceChart, ShowsTheLargestOfTheRowsOfAColumn) {
  std::vector<std::uint64_t> rows(600, 10);
  rows[595] = 20;
  const auto chart = chart_of(rows);
  EXPECT_EQ(chart.bars.front(), std::string(59, ' ') + "#");
}

TEST(TraceChart, DrawsATraceOfOneSize) {
  EXPECT_EQ(chart_of({32}).bars.front(), "#");
  EXPECT_EQ(chart_of({32, 32}).bars.back(), "##");
}

}  // namespace
}  // namespace rubato::app
