// See synthetic.hpp.
//
// Philox4x32-10 (doi:10.1145/2063384.2063405) keyed with the seed, counter (sample, value, stream).
// A bell-shaped number is the sum of the four 32-bit words of one draw, centred and scaled to
// deviation 1: integer arithmetic and one conversion, so the data are the same bits on every
// machine, which logarithm and cosine would not promise. Prototypes have deviation 1/2, noise has
// 1: at 64 values two classes lie 5.7 deviations apart, and a linear model reaches about 97 %.
#include "data/synthetic.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace rubato::data {
namespace {

enum class Stream : std::uint32_t { prototype = 1, train, test, train_label, test_label };

using Words = r123::Philox4x32::ctr_type;

Words draw(std::uint64_t seed, Stream stream, std::uint64_t sample, std::uint32_t value) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
  return r123::Philox4x32{}({low(sample), high(sample), value, static_cast<std::uint32_t>(stream)},
                            {low(seed), high(seed)});
}

float bell(const Words& words) {
  constexpr double centre = 2.0 * 4294967295.0;
  constexpr double deviation = 2479700524.9;  // of the sum of four: sqrt(4 / 12) * 2^32
  const std::uint64_t sum = std::uint64_t{words[0]} + words[1] + words[2] + words[3];
  return static_cast<float>((static_cast<double>(sum) - centre) / deviation);
}

RawSamples make_set(const SyntheticOptions& options, const std::vector<float>& prototypes,
                    std::size_t samples, Stream noise, Stream label) {
  const std::size_t width = options.shape.size();
  RawSamples set{"synthetic", options.shape, {}, {}};
  std::vector<float> values;
  values.reserve(samples * width);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t chosen = draw(options.seed, label, i, 0)[0] % options.classes;
    set.labels.push_back(static_cast<std::int32_t>(chosen));
    for (std::size_t j = 0; j < width; ++j) {
      values.push_back(prototypes[chosen * width + j] +
                       bell(draw(options.seed, noise, i, static_cast<std::uint32_t>(j))));
    }
  }
  set.values = std::move(values);
  return set;
}

void check(const SyntheticOptions& options) {
  constexpr std::size_t most_values = std::size_t{1} << 33U;
  const std::size_t width = options.shape.size();
  if (options.samples == 0 || width == 0) {
    throw std::invalid_argument(
        "synthetic: found no sample or an empty shape, expected at least 1");
  }
  if (options.classes < 2 || options.classes > static_cast<std::size_t>(most_label)) {
    throw std::invalid_argument("synthetic: found " + std::to_string(options.classes) +
                                " classes, expected 2 to " + std::to_string(most_label));
  }
  if (width > most_values / std::max(options.samples, options.classes)) {
    throw std::invalid_argument("synthetic: found " + std::to_string(options.samples) +
                                " samples of " + std::to_string(width) +
                                " values, expected at most " + std::to_string(most_values) +
                                " values in all");
  }
}

}  // namespace

Split make_synthetic(const SyntheticOptions& options) {
  check(options);
  std::vector<float> prototypes;
  for (std::size_t c = 0; c < options.classes; ++c) {
    for (std::size_t j = 0; j < options.shape.size(); ++j) {
      prototypes.push_back(
          0.5F * bell(draw(options.seed, Stream::prototype, c, static_cast<std::uint32_t>(j))));
    }
  }
  const std::size_t tests = std::max<std::size_t>(options.samples / 4, 1);
  return {make_set(options, prototypes, options.samples, Stream::train, Stream::train_label),
          make_set(options, prototypes, tests, Stream::test, Stream::test_label)};
}

}  // namespace rubato::data
