// The values of samples that are held as floats.
#pragma once

#include <variant>
#include <vector>

#include "data/raw_samples.hpp"

namespace rubato::data {

inline const std::vector<float>& float_values(const RawSamples& samples) {
  return std::get<std::vector<float>>(samples.values);
}

}  // namespace rubato::data
