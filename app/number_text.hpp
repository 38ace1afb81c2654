// Numbers as tables and sentences show them.
#pragma once

#include <cstdint>
#include <string>

namespace rubato::app {

// With so many digits after the point: "12.50".
std::string fixed(double number, int digits);

// Of 1, with two digits: "97.21 %".
std::string percent(double share);

// "1 epoch", "2 epochs", "2 minibatches".
std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace rubato::app
