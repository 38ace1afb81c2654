// Numbers as tables and sentences show them.
#pragma once

#include <string>

namespace rubato::app {

// With so many digits after the point: "12.50".
std::string fixed(double number, int digits);

// Of 1, with two digits: "97.21 %".
std::string percent(double share);

}  // namespace rubato::app
