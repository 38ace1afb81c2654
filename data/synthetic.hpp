// A made-up classification task that can be learnt: each class has a prototype, each sample is its
// class's prototype and noise.
#pragma once

#include <cstdint>

#include "data/raw_samples.hpp"

namespace rubato::data {

struct SyntheticOptions {
  std::size_t samples =
      4096;  // of the training set; the test set has a quarter as many, at least 1
  SampleShape shape{8, 8, 1};
  std::size_t classes = 10;
  std::uint64_t seed = 0;
};

// Sample i depends on (seed, set, i) alone, never on how many there are. Throws
// std::invalid_argument.
Split make_synthetic(const SyntheticOptions& options);

}  // namespace rubato::data
