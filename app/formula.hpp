// A formula of numbers and names, as study files have them: "0.05 * k", "min(5, 2 * sqrt(k))".
//
//   sum      = product { ("+" | "-") product }
//   product  = factor { ("*" | "/") factor }
//   factor   = "-" factor | "(" sum ")" | number | name | function "(" sum { "," sum } ")"
//   function = "min" | "max" | "sqrt"
//
// Numbers are written as in every option: 0.05, 5e-4. Blanks mean nothing.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

namespace rubato::app {

// What a formula is made of is wrong, or its value is no number. The sentence is a clause without a
// subject: "divides by zero".
class FormulaError : public std::invalid_argument {
 public:
  FormulaError(std::size_t column, const std::string& clause)
      : std::invalid_argument(clause), column_(column) {}
  std::size_t column() const noexcept { return column_; }  // in the formula, from 0

 private:
  std::size_t column_;
};

// The formula's value, always finite; it is rounded to the nearest double at each operation. Throws
// FormulaError.
double value_of_formula(const std::string& formula, const std::map<std::string, double>& names);

}  // namespace rubato::app
