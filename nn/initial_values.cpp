// Uniform floats from 24 random bits each: u = bits / 2^24 in [0, 1).
#include "nn/initial_values.hpp"

#include <algorithm>
#include <array>
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

}  // namespace

void fill_initial_values(const TensorSpec& tensor, std::uint64_t seed, std::span<float> values) {
  if (tensor.lower == tensor.upper) {
    std::fill(values.begin(), values.end(), static_cast<float>(tensor.lower));
    return;
  }
  const PhiloxStream stream = stream_of(tensor.name, seed);
  const double width = tensor.upper - tensor.lower;
  std::array<std::uint32_t, 1024> words;
  for (std::size_t done = 0; done < values.size(); done += words.size()) {
    const std::size_t count = std::min(words.size(), values.size() - done);
    fill(stream, static_cast<std::uint32_t>(done / 4), std::span(words).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      const double uniform = static_cast<double>(words[i] >> 8) * 0x1p-24;
      values[done + i] = static_cast<float>(tensor.lower + width * uniform);
    }
  }
}

}  // namespace rubato::nn
