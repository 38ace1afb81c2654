// With |x| < 2^e for all of a block, adding C = 1.5 * 2^52 * 2^(e-47) leaves x / 2^(e-47) as an
// integer in C's low 48 bits; subtracting C again tells whether that was exact. The trailing zeros
// that all these integers have are then taken off, by a larger C.
#include "collectives/packed_block.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace rubato::collectives {
namespace {

constexpr std::int64_t infinity_bits = 0x7ff0000000000000;
constexpr int integer_bits = 47;  // without the sign: 6 bytes
constexpr std::size_t most_bytes = 6;

struct Header {
  double constant = 0;                        // C
  std::uint64_t bytes_each = sizeof(double);  // 0: all are zero; 8: as they are
};

// Signed, because AVX2 compares only such integers.
std::int64_t largest_magnitude(std::span<const double> values) {
  std::int64_t largest = 0;
  for (const double value : values) {
    const std::int64_t magnitude =
        std::bit_cast<std::int64_t>(value) & std::numeric_limits<std::int64_t>::max();
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

double constant_for(int unit_exponent) { return std::ldexp(1.5, 52 + unit_exponent); }

// The bits that any of the values has, as multiples of the last place of `constant`; nothing if
// one of them is no such multiple.
std::optional<std::uint64_t> used_bits(std::span<const double> values, double constant) {
  const auto zero = std::bit_cast<std::int64_t>(constant);
  std::uint64_t used = 0;
  std::uint64_t inexact = 0;
  for (const double value : values) {
    const double sum = value + constant;
    used |= static_cast<std::uint64_t>(std::bit_cast<std::int64_t>(sum) - zero);
    inexact |= sum - constant == value ? 0U : 1U;
  }
  return inexact == 0 ? std::optional(used) : std::nullopt;
}

Header header_for(std::span<const double> values) {
  const std::int64_t largest = largest_magnitude(values);
  if (largest == 0) return {.constant = 0, .bytes_each = 0};
  const int exponent = static_cast<int>(largest >> 52) - 1022;  // |x| < 2^exponent
  if (largest >= infinity_bits || std::abs(exponent) > 900) return {};
  const int unit_exponent = exponent - integer_bits;
  const std::optional<std::uint64_t> used = used_bits(values, constant_for(unit_exponent));
  if (!used) return {};
  const int spare = std::countr_zero(*used);
  const int needed = integer_bits + 1 - spare;
  return {.constant = constant_for(unit_exponent + spare),
          .bytes_each = static_cast<std::uint64_t>((needed + 7) / 8)};
}

// Whole words are written, each over the end of the one before.
template <std::size_t bytes_each>
void store(std::span<const double> values, double constant, std::byte* target) {
  for (const double value : values) {
    const double sum = value + constant;
    std::memcpy(target, &sum, sizeof(sum));
    target += bytes_each;
  }
}

template <std::size_t bytes_each>
void load(const std::byte* source, double constant, std::span<double> values) {
  constexpr int unused = 64 - 8 * static_cast<int>(bytes_each);
  const auto zero = std::bit_cast<std::int64_t>(constant);
  for (double& value : values) {
    std::uint64_t word = 0;
    std::memcpy(&word, source, sizeof(word));
    const std::int64_t integer = static_cast<std::int64_t>(word << unused) >> unused;
    value = std::bit_cast<double>(zero + integer) - constant;
    source += bytes_each;
  }
}

// Calls use(std::integral_constant) with the number as a constant.
template <class Use>
void with_constant(std::uint64_t bytes_each, const Use& use) {
  const auto try_all = [&]<std::size_t... each>(std::index_sequence<each...>) {
    ((bytes_each == each + 1 ? use(std::integral_constant<std::size_t, each + 1>{}) : void()), ...);
  };
  try_all(std::make_index_sequence<most_bytes>{});
}

}  // namespace

std::size_t pack(std::span<const double> values, std::byte* target) {
  const Header header = header_for(values);
  std::memcpy(target, &header, sizeof(header));
  target += sizeof(header);
  if (header.bytes_each == sizeof(double)) {
    std::memcpy(target, values.data(), values.size_bytes());
  }
  with_constant(header.bytes_each,
                [&](auto each) { store<each>(values, header.constant, target); });
  return sizeof(header) + values.size() * header.bytes_each;
}

std::size_t unpack(const std::byte* source, std::span<double> values) {
  Header header;
  std::memcpy(&header, source, sizeof(header));
  source += sizeof(header);
  if (header.bytes_each == sizeof(double)) {
    std::memcpy(values.data(), source, values.size_bytes());
  } else if (header.bytes_each == 0) {
    std::ranges::fill(values, 0.0);
  }
  with_constant(header.bytes_each, [&](auto each) { load<each>(source, header.constant, values); });
  return sizeof(header) + values.size() * header.bytes_each;
}

std::size_t pack(std::span<const float> values, std::byte* target) {
  std::memcpy(target, values.data(), values.size_bytes());
  return values.size_bytes();
}

std::size_t unpack(const std::byte* source, std::span<float> values) {
  std::memcpy(values.data(), source, values.size_bytes());
  return values.size_bytes();
}

}  // namespace rubato::collectives
