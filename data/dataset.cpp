// See dataset.hpp. Bytes go through the very formula that floats go through, many at once: that
// is faster than a table of each channel's 256 results, which is read value by value.
#include "data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "data/errors.hpp"
#include "data/huge_pages.hpp"

namespace rubato::data {

namespace {

float standardised(float value, float scale, float mean, float deviation) {
  return (value * scale - mean) / deviation;
}

// Of each channel's number, one for each value of a sample.
std::vector<float> spread(const std::vector<float>& of_channels, std::size_t values) {
  std::vector<float> all(values);
  for (std::size_t i = 0; i < values; ++i) all[i] = of_channels[i % of_channels.size()];
  return all;
}

template <class Value>
void standardise(std::size_t size, const Value* __restrict values, float scale,
                 const float* __restrict means, const float* __restrict deviations,
                 float* __restrict out) {
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = standardised(static_cast<float>(values[i]), scale, means[i], deviations[i]);
  }
}

// Samples in random order are in no cache.
template <class Value>
void prefetch(const Value* values, std::size_t size) {
  constexpr std::size_t line = 64 / sizeof(Value);
  for (std::size_t i = 0; i < size; i += line) __builtin_prefetch(values + i);
}

void check_standardisation(const std::string& source, const Standardisation& by,
                           std::size_t channels) {
  const bool is_valid = by.mean.size() == channels && by.deviation.size() == channels &&
                        std::all_of(by.deviation.begin(), by.deviation.end(), [](float deviation) {
                          return deviation > 0 && std::isfinite(deviation);
                        });
  if (!is_valid) {
    throw ContentError(source + ": expected a mean and a deviation above 0 for each of the " +
                       std::to_string(channels) + " channels");
  }
}

void check_labels(const std::string& source, std::span<const std::int32_t> labels,
                  std::size_t classes) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < classes) continue;
    throw ContentError(source + ": found label " + std::to_string(labels[i]) + " of sample " +
                       std::to_string(i) + ", expected 0 to " + std::to_string(classes - 1));
  }
}

}  // namespace

float standardised(float value, const Standardisation& by, std::size_t channel) {
  return standardised(value, by.scale, by.mean[channel], by.deviation[channel]);
}

InMemoryDataset::InMemoryDataset(const std::string& source, SampleShape shape, std::size_t classes,
                                 Values values, std::vector<std::int32_t> labels,
                                 Standardisation standardisation)
    : InMemoryDataset(source, shape, classes,
                      std::make_shared<const Held>(Held{std::move(values), std::move(labels)}),
                      std::move(standardisation)) {}

InMemoryDataset::InMemoryDataset(const std::string& source, SampleShape shape, std::size_t classes,
                                 const std::shared_ptr<const Held>& held,
                                 Standardisation standardisation)
    : InMemoryDataset(source, shape, classes,
                      std::visit([](const auto& values) -> ValuesView { return std::span(values); },
                                 held->values),
                      held->labels, std::move(standardisation), held) {}

InMemoryDataset::InMemoryDataset(const std::string& source, SampleShape shape, std::size_t classes,
                                 ValuesView values, std::span<const std::int32_t> labels,
                                 Standardisation standardisation,
                                 std::shared_ptr<const void> keeper)
    : shape_(shape),
      classes_(classes),
      keeper_(std::move(keeper)),
      values_(values),
      labels_(labels),
      standardisation_(std::move(standardisation)) {
  const std::size_t found = std::visit([](const auto& held) { return held.size(); }, values_);
  if (labels_.empty() || shape_.size() == 0 || classes_ == 0) {
    throw ContentError(source + ": found " + std::to_string(labels_.size()) + " samples of " +
                       std::to_string(shape_.size()) + " values in " + std::to_string(classes_) +
                       " classes, expected at least one of each");
  }
  if (found != labels_.size() * shape_.size()) {
    throw ContentError(source + ": found " + std::to_string(found) + " values for " +
                       std::to_string(labels_.size()) + " labels, expected " +
                       std::to_string(shape_.size()) + " values for each");
  }
  check_labels(source, labels_, classes_);
  check_standardisation(source, standardisation_, shape_.channels);
  means_ = spread(standardisation_.mean, shape_.size());
  deviations_ = spread(standardisation_.deviation, shape_.size());
  std::visit([](auto held) { prefer_huge_pages(std::as_bytes(held)); }, values_);
}

void InMemoryDataset::read(std::span<const std::uint64_t> indices, std::span<float> inputs,
                           std::span<std::int32_t> labels) const {
  const std::size_t width = shape_.size();
  if (labels.size() != indices.size() || inputs.size() != indices.size() * width) {
    throw std::invalid_argument("dataset: found room for " + std::to_string(inputs.size()) +
                                " values and " + std::to_string(labels.size()) +
                                " labels, expected it for " + std::to_string(indices.size()) +
                                " samples");
  }
  const auto outside =
      std::ranges::find_if(indices, [&](std::uint64_t index) { return index >= size(); });
  if (outside != indices.end()) {
    throw std::out_of_range("dataset: found sample index " + std::to_string(*outside) +
                            ", expected less than " + std::to_string(size()));
  }
  for (std::size_t i = 0; i < indices.size(); ++i) labels[i] = labels_[indices[i]];
  std::visit([&](auto values) { read_inputs(values.data(), indices, inputs.data()); }, values_);
}

template <class Value>
void InMemoryDataset::read_inputs(const Value* values, std::span<const std::uint64_t> indices,
                                  float* inputs) const {
  const std::size_t width = shape_.size();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i + 1 < indices.size()) prefetch(values + indices[i + 1] * width, width);
    standardise(width, values + indices[i] * width, standardisation_.scale, means_.data(),
                deviations_.data(), inputs + i * width);
  }
}

}  // namespace rubato::data
