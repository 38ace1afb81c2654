// See raw_samples.hpp.
#include "data/raw_samples.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

namespace rubato::data {
namespace {

template <typename Value>
std::vector<double> channel_means(const std::vector<Value>& values, std::size_t channels,
                                  double scale) {
  std::vector<double> sums(channels, 0.0);
  for (std::size_t i = 0; i < values.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c)
      sums[c] += static_cast<double>(values[i + c]) * scale;
  }
  for (double& sum : sums) sum /= static_cast<double>(values.size() / channels);
  return sums;
}

template <typename Value>
std::vector<double> channel_deviations(const std::vector<Value>& values, double scale,
                                       const std::vector<double>& means) {
  const std::size_t channels = means.size();
  std::vector<double> sums(channels, 0.0);
  for (std::size_t i = 0; i < values.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      const double distance = static_cast<double>(values[i + c]) * scale - means[c];
      sums[c] += distance * distance;
    }
  }
  for (double& sum : sums) sum = std::sqrt(sum / static_cast<double>(values.size() / channels));
  return sums;
}

// Sums of equal floats are exact in double, so a constant channel has a deviation of exactly 0.
float usable_deviation(double deviation) {
  return static_cast<float>(deviation) == 0 ? 1.0F : static_cast<float>(deviation);
}

template <typename Value>
void move_channels_last(std::vector<Value>& values, const SampleShape& shape) {
  const std::size_t pixels = shape.height * shape.width;
  std::vector<Value> sample(shape.size());
  for (std::size_t begin = 0; begin < values.size(); begin += shape.size()) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    std::copy_n(first, shape.size(), sample.begin());
    for (std::size_t c = 0; c < shape.channels; ++c) {
      for (std::size_t p = 0; p < pixels; ++p) {
        values[begin + p * shape.channels + c] = sample[c * pixels + p];
      }
    }
  }
}

}  // namespace

float usual_scale(const InMemoryDataset::Values& values) {
  return std::holds_alternative<std::vector<std::uint8_t>>(values) ? 1.0F / 255.0F : 1.0F;
}

Standardisation measure(const RawSamples& samples, float scale) {
  Standardisation result{scale, {}, {}};
  std::visit(
      [&](const auto& values) {
        const std::size_t channels = samples.shape.channels;
        const auto factor = static_cast<double>(scale);
        const std::vector<double> means = channel_means(values, channels, factor);
        const std::vector<double> deviations = channel_deviations(values, factor, means);
        for (std::size_t c = 0; c < channels; ++c) {
          result.mean.push_back(static_cast<float>(means[c]));
          result.deviation.push_back(usable_deviation(deviations[c]));
        }
      },
      samples.values);
  return result;
}

std::size_t count_classes(const RawSamples& samples) {
  if (samples.labels.empty()) return 0;
  return static_cast<std::size_t>(*std::max_element(samples.labels.begin(), samples.labels.end())) +
         1;
}

Split split_every(const RawSamples& samples, std::size_t period) {
  if (period < 2 || period > samples.labels.size()) {
    throw std::invalid_argument("test-every: found " + std::to_string(period) +
                                ", expected 2 to the number of samples, " +
                                std::to_string(samples.labels.size()));
  }
  Split split;
  const std::size_t width = samples.shape.size();
  for (RawSamples* part : {&split.train, &split.test}) {
    part->source = samples.source;
    part->shape = samples.shape;
  }
  std::visit(
      [&](const auto& values) {
        auto train = values;
        auto test = values;
        train.clear();
        test.clear();
        for (std::size_t i = 0; i < samples.labels.size(); ++i) {
          const bool tests = i % period == period - 1;
          const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * width);
          auto& into = tests ? test : train;
          into.insert(into.end(), first, first + static_cast<std::ptrdiff_t>(width));
          (tests ? split.test : split.train).labels.push_back(samples.labels[i]);
        }
        split.train.values = std::move(train);
        split.test.values = std::move(test);
      },
      samples.values);
  return split;
}

void to_channels_last(InMemoryDataset::Values& values, const SampleShape& shape) {
  if (shape.channels == 1 || shape.height * shape.width == 1) return;
  std::visit([&](auto& held) { move_channels_last(held, shape); }, values);
}

}  // namespace rubato::data
