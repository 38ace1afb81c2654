// Samples as a file holds them, brought to channels-last but not yet standardised: what every
// reader returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace rubato::data {

struct RawSamples {
  std::string source;  // the file, for messages
  SampleShape shape;
  InMemoryDataset::Values values;    // NHWC
  std::vector<std::int32_t> labels;  // none is negative
};

constexpr std::int64_t most_label = 999'999;

// 1/255 for bytes, 1 for floats.
float usual_scale(const InMemoryDataset::Values& values);

// Mean and deviation (of the population) of each channel of the scaled values; a deviation of 0
// becomes 1, so that a constant channel is delivered as 0. In double, in file order, two passes:
// the same bits everywhere.
Standardisation measure(const RawSamples& samples, float scale);

// Largest label + 1.
std::size_t count_classes(const RawSamples& samples);

struct Split {
  RawSamples train;
  RawSamples test;
};

// Every `period`-th sample (index mod period = period - 1) tests, the others train, both in file
// order. Throws std::invalid_argument if one of the two would be empty.
Split split_every(const RawSamples& samples, std::size_t period);

// Moves the values of each sample from [channel][height][width] to [height][width][channel].
// `shape` is the one after it.
void to_channels_last(InMemoryDataset::Values& values, const SampleShape& shape);

}  // namespace rubato::data
