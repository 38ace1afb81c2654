// The exact sum of doubles, in any order: what is read of it is the double next to it, whoever
// added what. Kept as parts that do not overlap (doi:10.1007/PL00009321, section 2.4) and rounded
// once, to even.
//
// Exact as long as no sum on the way leaves the range of doubles; beyond, and for numbers that are
// not finite, it is what adding makes of infinities.
#pragma once

#include <span>
#include <vector>

namespace rubato::runtime {

class ExactSum {
 public:
  ExactSum() = default;
  explicit ExactSum(double number) { *this += number; }
  // From parts(); any numbers will do.
  explicit ExactSum(std::span<const double> parts);

  ExactSum& operator+=(double number);
  ExactSum& operator-=(double number) { return *this += -number; }
  ExactSum& operator+=(const ExactSum& other);
  ExactSum& operator-=(const ExactSum& other);

  double value() const noexcept;
  operator double() const noexcept { return value(); }  // NOLINT: a sum reads as a number

  // Numbers whose exact sum this is.
  std::vector<double> parts() const;

 private:
  std::vector<double> parts_;  // ascending in magnitude, none 0
  double not_finite_ = 0;      // the sum of what is not
};

}  // namespace rubato::runtime
