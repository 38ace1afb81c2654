// The sentences for wrong values and unknown names. Numbers are written as a person would type
// them.
#include "optim/option_check.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace rubato::optim {

void require_value(bool is_valid, std::string_view what, double value, std::string_view expected) {
  if (is_valid) return;
  std::ostringstream sentence;
  sentence << what << " is " << value << "; expected " << expected;
  throw std::invalid_argument(sentence.str());
}

void require_at_least_zero(std::string_view what, double value) {
  require_value(std::isfinite(value) && value >= 0, what, value, "a finite number, 0 or more");
}

void require_above_zero(std::string_view what, double value) {
  require_value(std::isfinite(value) && value > 0, what, value, "a finite number above 0");
}

void require_fraction(std::string_view what, double value) {
  require_value(value >= 0 && value < 1, what, value, "a number from 0 to below 1");
}

template <class T>
void require_epsilon(double value) {
  require_value(std::isfinite(value) && static_cast<T>(value) > 0, "epsilon", value,
                "a finite number above 0 (in the precision of the parameters)");
}

template void require_epsilon<float>(double);
template void require_epsilon<double>(double);

void throw_unknown_name(const std::string& what, const std::string& name,
                        const std::vector<std::string>& valid_names) {
  std::string sentence = "unknown " + what + " '" + name + "'; valid names: ";
  for (std::size_t i = 0; i < valid_names.size(); ++i) {
    sentence += (i == 0 ? "" : ", ") + valid_names[i];
  }
  throw std::invalid_argument(sentence);
}

}  // namespace rubato::optim
