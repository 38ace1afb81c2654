// Uniform floats from 24 random bits each: u = bits / 2^24 in [0, 1). Normal ones by Box and
// Muller's transformation (doi:10.1214/aoms/1177706645), two from two words.
#include "nn/initial_values.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "nn/philox.hpp"

namespace rubato::nn {
namespace {

// Fowler-Noll-Vo hash FNV-1a, 64 bits: RFC 9923, section 2.
std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char character : name) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 0x100000001b3;
  }
  return hash;
}

PhiloxStream stream_of(const std::string& name, std::uint64_t seed) {
  constexpr std::uint32_t initial_values_purpose = 0xFFFFFFFF;  // dropout has its layer number here
  const std::uint64_t hash = hash_of(name);
  return {seed, initial_values_purpose, static_cast<std::uint32_t>(hash),
          static_cast<std::uint32_t>(hash >> 32)};
}

void fill_uniform(const TensorSpec& tensor, const PhiloxStream& stream, std::span<float> values) {
  const double width = tensor.upper - tensor.lower;
  for_each_piece(stream, values.size(), [&](std::size_t place, Words words) {
    for (const std::uint32_t word : words) {
      const double uniform = static_cast<double>(word >> 8) * 0x1p-24;
      values[place++] = static_cast<float>(tensor.lower + width * uniform);
    }
  });
}

void fill_normal(const TensorSpec& tensor, const PhiloxStream& stream, std::span<float> values) {
  const std::size_t words_of_pairs = values.size() + values.size() % 2;
  for_each_piece(stream, words_of_pairs, [&](std::size_t place, Words words) {
    for (std::size_t i = 0; i < words.size(); i += 2, place += 2) {
      const double above_zero = (static_cast<double>(words[i]) + 1.0) * 0x1p-32;
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(words[i + 1]) * 0x1p-32;
      const double radius = tensor.deviation * std::sqrt(-2.0 * std::log(above_zero));
      values[place] = static_cast<float>(radius * std::cos(angle));
      if (place + 1 == values.size()) break;
      values[place + 1] = static_cast<float>(radius * std::sin(angle));
    }
  });
}

}  // namespace

void fill_initial_values(const TensorSpec& tensor, std::uint64_t seed, std::span<float> values) {
  const PhiloxStream stream = stream_of(tensor.name, seed);
  if (tensor.deviation > 0) {
    fill_normal(tensor, stream, values);
  } else if (tensor.lower == tensor.upper) {
    std::fill(values.begin(), values.end(), static_cast<float>(tensor.lower));
  } else {
    fill_uniform(tensor, stream, values);
  }
}

}  // namespace rubato::nn
