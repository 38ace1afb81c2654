// See exact_sum.hpp.
#include "runtime/exact_sum.hpp"

#include <cmath>
#include <utility>

namespace rubato::runtime {

ExactSum::ExactSum(std::span<const double> parts) {
  for (const double part : parts) *this += part;
}

// Adds the number to each part in turn: what a sum rounds off stays behind as a part of its own.
ExactSum& ExactSum::operator+=(double number) {
  if (!std::isfinite(number)) {
    not_finite_ += number;
    return *this;
  }
  std::size_t kept = 0;
  for (double part : parts_) {
    if (std::abs(number) < std::abs(part)) std::swap(number, part);
    const double sum = number + part;
    if (!std::isfinite(sum)) {
      not_finite_ += sum;
      return *this;
    }
    const double rest = part - (sum - number);
    if (rest != 0) parts_[kept++] = rest;
    number = sum;
  }
  parts_.resize(kept);
  if (number != 0) parts_.push_back(number);
  return *this;
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  for (const double part : other.parts()) *this += part;
  return *this;
}

ExactSum& ExactSum::operator-=(const ExactSum& other) {
  for (const double part : other.parts()) *this -= part;
  return *this;
}

// From the largest part down, until a rest remains. If that is exactly half a unit, the next part
// decides which way to round.
double ExactSum::value() const noexcept {
  if (not_finite_ != 0) return not_finite_;
  std::size_t left = parts_.size();
  if (left == 0) return 0;
  double sum = parts_[--left];
  double rest = 0;
  while (left > 0 && rest == 0) {
    const double before = sum;
    const double part = parts_[--left];
    sum = before + part;
    rest = part - (sum - before);
  }
  if (left > 0 && rest != 0 && (rest < 0) == (parts_[left - 1] < 0)) {
    const double twice = 2 * rest;
    const double rounded = sum + twice;
    if (twice == rounded - sum) sum = rounded;
  }
  return sum;
}

std::vector<double> ExactSum::parts() const {
  std::vector<double> parts = parts_;
  if (not_finite_ != 0) parts.push_back(not_finite_);
  return parts;
}

}  // namespace rubato::runtime
