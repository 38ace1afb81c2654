// See dataset.hpp. Bytes are standardised through a table of 256 floats a channel, made by the very
// formula that floats go through: the same bits, and no division per value.
#include "data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "data/errors.hpp"

namespace rubato::data {

float standardised(float value, const Standardisation& by, std::size_t channel) {
  return (value * by.scale - by.mean[channel]) / by.deviation[channel];
}

namespace {

std::vector<float> table_of_bytes(const Standardisation& by) {
  std::vector<float> table(by.mean.size() * 256);
  for (std::size_t channel = 0; channel < by.mean.size(); ++channel) {
    for (std::size_t value = 0; value < 256; ++value) {
      table[channel * 256 + value] = standardised(static_cast<float>(value), by, channel);
    }
  }
  return table;
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
  if (std::holds_alternative<std::span<const std::uint8_t>>(values_)) {
    byte_table_ = table_of_bytes(standardisation_);
  }
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
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= size()) {
      throw std::out_of_range("dataset: found sample index " + std::to_string(indices[i]) +
                              ", expected less than " + std::to_string(size()));
    }
    labels[i] = labels_[indices[i]];
    read_sample(indices[i], inputs.subspan(i * width, width));
  }
}

void InMemoryDataset::read_sample(std::size_t index, std::span<float> out) const {
  const std::size_t channels = shape_.channels;
  const auto fill = [&](const auto* values, const auto& standardise) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t i = channel; i < out.size(); i += channels) {
        out[i] = standardise(values[i], channel);
      }
    }
  };
  const std::size_t begin = index * out.size();
  if (const auto* bytes = std::get_if<std::span<const std::uint8_t>>(&values_)) {
    fill(bytes->data() + begin, [this](std::uint8_t value, std::size_t channel) {
      return byte_table_[channel * 256 + value];
    });
  } else {
    fill(std::get<std::span<const float>>(values_).data() + begin,
         [this](float value, std::size_t channel) {
           return standardised(value, standardisation_, channel);
         });
  }
}

}  // namespace rubato::data
