// See option_value.hpp.
#include "app/option_value.hpp"

#include <cmath>
#include <cstdint>

#include "app/failure.hpp"
#include "app/spelling.hpp"

namespace rubato::app {
namespace {

std::string expectation(const Option& option) {
  const bool is_positive = option.range == OptionRange::positive;
  switch (option.kind) {
    case OptionKind::integer:
      return is_positive ? "a whole number from 1 to 2^64-1" : "a whole number from 0 to 2^64-1";
    case OptionKind::number:
      return is_positive ? "a positive number" : "a number that is 0 or more";
    case OptionKind::flag:
      return "true or false";
    case OptionKind::text:
    case OptionKind::choice:
      break;
  }
  return "a value";
}

template <class T>
bool is_in_range(T value, OptionRange range) {
  return range == OptionRange::positive ? value > T{0} : value >= T{0};
}

bool is_integer(const Option& option, const std::string& text) {
  const auto value = parse_whole<std::uint64_t>(text);
  return value && is_in_range(*value, option.range);
}

bool is_number(const Option& option, const std::string& text) {
  const auto value = parse_whole<double>(text);
  return value && std::isfinite(*value) && is_in_range(*value, option.range);
}

bool is_valid(const Option& option, const std::string& text) {
  switch (option.kind) {
    case OptionKind::integer:
      return is_integer(option, text);
    case OptionKind::number:
      return is_number(option, text);
    case OptionKind::flag:
      return text == "true" || text == "false";
    case OptionKind::text:
    case OptionKind::choice:
      break;
  }
  return true;
}

}  // namespace

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

void check_value(const Option& option, const std::string& text, const std::string& subject) {
  if (text.empty()) throw UsageError(subject + ": a value is missing");
  if (option.kind == OptionKind::choice) require_choice(option.name, text, option.choices);
  if (!is_valid(option, text)) {
    throw UsageError(subject + " " + text + ": expected " + expectation(option));
  }
}

}  // namespace rubato::app
