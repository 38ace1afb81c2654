// How the lines of plots differ: by colour, by dashes and by marker, so that they can be told apart
// by the colour-blind and in print. The colours are those of Okabe and Ito without yellow, which is
// too pale on white.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rubato::app {

struct LineStyle {
  std::string colour;         // "#0072B2"
  std::vector<int> dashes{};  // lengths of lines and gaps in pixels; empty: solid
  int marker = 0;             // gnuplot's point type
};

// The first 35 differ in colour or in dashes, each 7 in both; then they begin again.
LineStyle line_style(std::size_t index);

// A piece of such a line, as an SVG element for a legend.
std::string line_sample(const LineStyle& style);

}  // namespace rubato::app
