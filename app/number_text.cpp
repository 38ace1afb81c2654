// See number_text.hpp.
#include "app/number_text.hpp"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace rubato::app {

std::string fixed(double number, int digits) {
  if (std::isnan(number)) return "nan";  // whose sign means nothing
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << number;
  return text.str();
}

std::string percent(double share) { return fixed(100 * share, 2) + " %"; }

std::string counted(std::uint64_t count, const std::string& noun) {
  const std::string ending = count == 1 ? "" : noun.ends_with("tch") ? "es" : "s";
  return std::to_string(count) + " " + noun + ending;
}

}  // namespace rubato::app
