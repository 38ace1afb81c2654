// Equal to a golden number but for the last digits.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace rubato::optim {

inline void expect_relative(double actual, const nlohmann::json& expected) {
  EXPECT_NEAR(actual, expected.get<double>(), 1e-12 * std::abs(expected.get<double>()));
}

}  // namespace rubato::optim
