// Integers: with |x| < 2^e for all of a block, adding C = 1.5 * 2^52 * 2^(e-47) leaves x / 2^(e-47)
// as an integer in C's low 48 bits; subtracting C again tells whether that was exact. The trailing
// zeros that all these integers have are then taken off, by a larger C.
#include "collectives/packed_block.hpp"

#include <algorithm>
#include <array>
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
constexpr int fewest_bytes = 4;   // what needs fewer consists of floats, but for extreme exponents

enum class Form : std::uint32_t { zeros, integers, floats, doubles };

struct Header {
  Form form = Form::doubles;
  std::uint32_t bytes_each = sizeof(double);
  double constant = 0;  // C, of integers
};
static_assert(2 * sizeof(Header) == packed_room(0));  // it, and a word over the end

// Signed, because AVX2 compares only such integers; several at once, as each waits for the last.
std::int64_t largest_magnitude(std::span<const double> values) {
  std::array<std::int64_t, 16> largest{};
  const auto see = [](double value, std::int64_t& so_far) {
    const std::int64_t magnitude =
        std::bit_cast<std::int64_t>(value) & std::numeric_limits<std::int64_t>::max();
    so_far = magnitude > so_far ? magnitude : so_far;
  };
  for (; values.size() >= largest.size(); values = values.subspan(largest.size())) {
    for (std::size_t i = 0; i < largest.size(); ++i) see(values[i], largest[i]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) see(values[i], largest[i]);
  return std::ranges::max(largest);
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

Header integers_or_doubles(std::span<const double> values) {
  const std::int64_t largest = largest_magnitude(values);
  const int exponent = static_cast<int>(largest >> 52) - 1022;  // |x| < 2^exponent
  if (largest >= infinity_bits || std::abs(exponent) > 900) return {};
  const int unit_exponent = exponent - integer_bits;
  const std::optional<std::uint64_t> used = used_bits(values, constant_for(unit_exponent));
  if (!used) return {};
  const int spare = std::countr_zero(*used);
  const int needed = integer_bits + 1 - spare;
  return {.form = Form::integers,
          .bytes_each = static_cast<std::uint32_t>(std::max((needed + 7) / 8, fewest_bytes)),
          .constant = constant_for(unit_exponent + spare)};
}

// Nothing if not all values are floats, which most such blocks show at once.
std::optional<Header> zeros_or_floats(std::span<const double> values) {
  constexpr std::size_t looked_at_together = 64;
  std::uint64_t used = 0;
  while (!values.empty()) {
    std::uint64_t differences = 0;
    const std::size_t count = std::min(values.size(), looked_at_together);
    for (const double value : values.first(count)) {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      differences |= std::bit_cast<std::uint64_t>(double{static_cast<float>(value)}) ^ bits;
      used |= bits << 1;  // without the sign
    }
    if (differences != 0) return std::nullopt;
    values = values.subspan(count);
  }
  if (used == 0) return Header{.form = Form::zeros, .bytes_each = 0};
  return Header{.form = Form::floats, .bytes_each = sizeof(float)};
}

Header header_for(std::span<const double> values) {
  const std::optional<Header> floats = zeros_or_floats(values);
  return floats ? *floats : integers_or_doubles(values);
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

void store_floats(std::span<const double> values, std::byte* target) {
  for (const double value : values) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(target, &narrow, sizeof(narrow));
    target += sizeof(narrow);
  }
}

void load_floats(const std::byte* source, std::span<double> values) {
  for (double& value : values) {
    float narrow = 0;
    std::memcpy(&narrow, source, sizeof(narrow));
    value = narrow;
    source += sizeof(narrow);
  }
}

// Calls use(std::integral_constant) with the number of bytes, 4 to 6, as a constant.
template <class Use>
void with_bytes_each(std::uint32_t bytes_each, const Use& use) {
  if (bytes_each == 4) return use(std::integral_constant<std::size_t, 4>{});
  if (bytes_each == 5) return use(std::integral_constant<std::size_t, 5>{});
  use(std::integral_constant<std::size_t, 6>{});
}

}  // namespace

std::size_t pack(std::span<const double> values, std::byte* target) {
  const Header header = header_for(values);
  std::memcpy(target, &header, sizeof(header));
  target += sizeof(header);
  switch (header.form) {
    case Form::zeros:
      break;
    case Form::integers:
      with_bytes_each(header.bytes_each,
                      [&](auto each) { store<each>(values, header.constant, target); });
      break;
    case Form::floats:
      store_floats(values, target);
      break;
    case Form::doubles:
      std::memcpy(target, values.data(), values.size_bytes());
      break;
  }
  return sizeof(header) + values.size() * header.bytes_each;
}

std::size_t unpack(const std::byte* source, std::span<double> values) {
  Header header;
  std::memcpy(&header, source, sizeof(header));
  source += sizeof(header);
  switch (header.form) {
    case Form::zeros:
      std::ranges::fill(values, 0.0);
      break;
    case Form::integers:
      with_bytes_each(header.bytes_each,
                      [&](auto each) { load<each>(source, header.constant, values); });
      break;
    case Form::floats:
      load_floats(source, values);
      break;
    case Form::doubles:
      std::memcpy(values.data(), source, values.size_bytes());
      break;
  }
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
