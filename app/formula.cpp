// See formula.hpp: one function for each line of the grammar.
#include "app/formula.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "app/option_value.hpp"
#include "app/spelling.hpp"
#include "data/in_quotes.hpp"

namespace rubato::app {
namespace {

constexpr int deepest_nesting = 64;  // the stack is finite

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_number(char c) { return is_digit(c) || c == '.'; }

class Parser {
 public:
  Parser(std::string_view text, const std::map<std::string, double>& names)
      : text_(text), names_(names) {}

  double parse() {
    const double value = sum();
    if (!is_at_end()) fail_expecting("an operator or the end");
    return value;
  }

 private:
  double sum() {
    double value = product();
    while (true) {
      const std::size_t place = skip_blanks();
      if (take('+')) {
        value = finite(place, value + product());
      } else if (take('-')) {
        value = finite(place, value - product());
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = factor();
    while (true) {
      const std::size_t place = skip_blanks();
      if (take('*')) {
        value = finite(place, value * factor());
      } else if (take('/')) {
        const double divisor = factor();
        if (divisor == 0) fail(place, "divides by zero");
        value = finite(place, value / divisor);
      } else {
        return value;
      }
    }
  }

  double factor() {
    if (++nesting_ > deepest_nesting) fail(place_, "is nested too deeply");
    const double value = unnested_factor();
    --nesting_;
    return value;
  }

  double unnested_factor() {
    const std::size_t place = skip_blanks();
    if (take('-')) return -factor();
    if (take('(')) {
      const double value = sum();
      require(')');
      return value;
    }
    if (!is_at_end() && begins_number(text_[place_])) return number();
    if (!is_at_end() && is_letter(text_[place_])) return named(word(), place);
    fail_expecting("a number, a name or \"(\"");
  }

  double number() {
    double value = 0;
    const char* begin = text_.data() + place_;
    const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail_expecting("a number");
    place_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  std::string word() {
    const std::size_t begin = place_;
    while (!is_at_end() && (is_letter(text_[place_]) || is_digit(text_[place_]))) ++place_;
    return std::string(text_.substr(begin, place_ - begin));
  }

  double named(const std::string& name, std::size_t place) {
    if (const auto entry = names_.find(name); entry != names_.end()) return entry->second;
    const bool is_function = std::find(functions.begin(), functions.end(), name) != functions.end();
    if (is_function) return call(name, place);
    std::vector<std::string> known(functions.begin(), functions.end());
    for (const auto& [other, value] : names_) known.push_back(other);
    const auto close = nearest(name, known);
    fail(place, "has the unknown name \"" + name + "\"" +
                    (close ? "; did you mean \"" + *close + "\"?"
                           : " (valid: " + joined(known, ", ") + ")"));
  }

  double call(const std::string& name, std::size_t place) {
    require('(');
    std::vector<double> values{sum()};
    while (skip_blanks(), take(',')) values.push_back(sum());
    require(')');
    if (name == "min") return *std::min_element(values.begin(), values.end());
    if (name == "max") return *std::max_element(values.begin(), values.end());
    if (values.size() != 1) fail(place, "sqrt takes one number");
    if (values[0] < 0) fail(place, "takes the square root of a negative number");
    return std::sqrt(values[0]);
  }

  static double finite(std::size_t place, double value) {
    if (!std::isfinite(value)) fail(place, "comes to a number that is too large");
    return value;
  }

  bool is_at_end() const { return place_ == text_.size(); }

  std::size_t skip_blanks() {
    while (!is_at_end() && is_blank(text_[place_])) ++place_;
    return place_;
  }

  bool take(char wanted) {
    if (is_at_end() || text_[place_] != wanted) return false;
    ++place_;
    return true;
  }

  void require(char wanted) {
    skip_blanks();
    if (take(wanted)) return;
    fail_expecting(std::string("\"") + wanted + "\"");
  }

  [[noreturn]] void fail_expecting(const std::string& what) const {
    const std::string found =
        is_at_end() ? "ends" : "has " + data::in_quotes(text_.substr(place_, 1));
    fail(place_, found + " where " + what + " is expected");
  }

  [[noreturn]] static void fail(std::size_t place, const std::string& clause) {
    throw FormulaError(place, clause);
  }

  static constexpr std::array functions{"min", "max", "sqrt"};

  std::string_view text_;
  const std::map<std::string, double>& names_;
  std::size_t place_ = 0;
  int nesting_ = 0;
};

}  // namespace

double value_of_formula(const std::string& formula, const std::map<std::string, double>& names) {
  return Parser(formula, names).parse();
}

}  // namespace rubato::app
