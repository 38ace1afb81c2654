// One value of one option: numbers read in full or not at all, and the sentence for a value that is
// none.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

// The whole of `text` as a T, or nothing: no blanks around, no plus sign, no rest. Free of locale.
template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// "a, b, c" for ", ".
std::string joined(const std::vector<std::string>& words, const std::string& between);

// Throws UsageError "SUBJECT VALUE: expected ..." unless `text` is a value of `option`. The subject
// is how the user names the option: "--lr" or "run.ini: lr".
void check_value(const Option& option, const std::string& text, const std::string& subject);

}  // namespace rubato::app
