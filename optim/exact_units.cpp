// Exponents of the exact sum: see the header for the argument.
#include "optim/exact_units.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace rubato::optim {

namespace {

constexpr std::int32_t fraction_bits = 34;  // u = 2^(E - fraction_bits)
constexpr std::int32_t headroom_bits = 17;  // sums may reach 2^(E + headroom_bits)
constexpr std::int32_t lost_bits_allowed =
    10;  // an E that is too large by more leaves fewer than 24 bits

// The smallest E with magnitude < 2^E for every float of this exponent field.
std::int32_t exponent_of(std::uint32_t magnitude_bits) {
  return static_cast<std::int32_t>(magnitude_bits >> 23) - 126;
}

std::int32_t bits_to_count(std::size_t minibatches) {
  return static_cast<std::int32_t>(std::bit_width(minibatches - 1));
}

}  // namespace

ExactUnits::ExactUnits(std::size_t tensors) : exponents_(tensors, -126) {}

double ExactUnits::rounding_constant(std::size_t tensor) const {
  return std::ldexp(1.5, 52 + exponents_[tensor] - fraction_bits);
}

bool ExactUnits::would_stand(std::span<const std::uint32_t> largest_bits,
                             std::size_t minibatches) const {
  for (std::size_t tensor = 0; tensor < exponents_.size(); ++tensor) {
    if (largest_bits[tensor] == 0) continue;
    const std::int32_t now = exponent_of(largest_bits[tensor]);
    const std::int32_t used = exponents_[tensor];
    if (now + bits_to_count(minibatches) > used + headroom_bits) return false;
    if (now < used - lost_bits_allowed) return false;
  }
  return true;
}

bool ExactUnits::adopt(std::span<const std::uint32_t> largest_bits, std::size_t minibatches) {
  if (bits_to_count(minibatches) > headroom_bits + lost_bits_allowed) {
    throw std::invalid_argument("the exact sum adds at most 2^27 minibatches in an update, not " +
                                std::to_string(minibatches) + ": use a larger --minibatch");
  }
  const bool stands = would_stand(largest_bits, minibatches);
  for (std::size_t tensor = 0; tensor < exponents_.size(); ++tensor) {
    if (largest_bits[tensor] == 0) continue;
    exponents_[tensor] =
        exponent_of(largest_bits[tensor]) + std::max(0, bits_to_count(minibatches) - headroom_bits);
  }
  return stands;
}

void ExactUnits::restore(std::vector<std::int32_t> exponents) {
  if (exponents.size() != exponents_.size()) {
    throw std::invalid_argument("exact sum: " + std::to_string(exponents.size()) +
                                " exponents for a model of " + std::to_string(exponents_.size()) +
                                " tensors");
  }
  exponents_ = std::move(exponents);
}

}  // namespace rubato::optim
