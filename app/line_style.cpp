// See line_style.hpp.
#include "app/line_style.hpp"

#include <array>
#include <sstream>

namespace rubato::app {
namespace {

constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                             "#000000", "#E69F00", "#56B4E9"};
constexpr std::array markers{7, 5, 9, 11, 13, 6, 4};
const std::array<std::vector<int>, 5> dash_patterns{{{}, {8, 3}, {2, 2}, {8, 3, 2, 3}, {4, 4}}};

}  // namespace

LineStyle line_style(std::size_t index) {
  const std::size_t round = index / colours.size();
  return {.colour = colours[index % colours.size()],
          .dashes = dash_patterns[(index + round) % dash_patterns.size()],
          .marker = markers[(index + round) % markers.size()]};
}

std::string line_sample(const LineStyle& style) {
  std::ostringstream svg;
  svg << R"(<svg class="sample" width="36" height="8" aria-hidden="true">)"
      << R"(<path d="M0,4 H36" stroke=")" << style.colour << '"';
  for (std::size_t i = 0; i < style.dashes.size(); ++i) {
    svg << (i == 0 ? " stroke-dasharray=\"" : ",") << style.dashes[i];
  }
  svg << (style.dashes.empty() ? "" : "\"") << "/></svg>";
  return svg.str();
}

}  // namespace rubato::app
