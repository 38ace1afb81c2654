// See number_text.hpp.
#include "app/number_text.hpp"

#include <iomanip>
#include <sstream>

namespace rubato::app {

std::string fixed(double number, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << number;
  return text.str();
}

std::string percent(double share) { return fixed(100 * share, 2) + " %"; }

}  // namespace rubato::app
