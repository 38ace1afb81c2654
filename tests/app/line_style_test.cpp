#include "app/line_style.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rubato::app {
namespace {

TEST(LineStyle, DiffersInColourAndDashesOrMarker) {
  std::set<std::pair<std::string, std::vector<int>>> seen;
  for (std::size_t i = 0; i < 35; ++i) {
    const auto style = line_style(i);
    EXPECT_TRUE(seen.insert({style.colour, style.dashes}).second) << i;
  }
  std::set<std::string> colours;
  std::set<int> markers;
  for (std::size_t i = 0; i < 7; ++i) {
    colours.insert(line_style(i).colour);
    markers.insert(line_style(i).marker);
    EXPECT_NE(line_style(i).dashes, line_style(i + 1).dashes) << "neighbours in print";
  }
  EXPECT_EQ(colours.size(), 7U);
  EXPECT_EQ(markers.size(), 7U);
}

TEST(LineStyle, HasASample) {
  EXPECT_EQ(line_sample(line_style(0)),
            R"(<svg class="sample" width="36" height="8" aria-hidden="true">)"
            R"(<path d="M0,4 H36" stroke="#0072B2"/></svg>)");
  EXPECT_THAT(line_sample(line_style(1)),
              testing::HasSubstr(R"(stroke="#D55E00" stroke-dasharray="8,3"/>)"));
}

}  // namespace
}  // namespace rubato::app
