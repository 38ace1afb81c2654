// See data_spec.hpp.
#include "data/data_spec.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "data/in_quotes.hpp"

namespace rubato::data {
namespace {

std::optional<std::uint64_t> whole_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::string data_spec_kind(const std::string& spec) { return spec.substr(0, spec.find(':')); }

DataSpec parse_data_spec(const std::string& spec, const std::vector<std::string>& known_settings) {
  DataSpec result{data_spec_kind(spec), {}, {}};
  if (result.kind.size() == spec.size()) return result;
  std::string rest = spec.substr(result.kind.size() + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.rfind(',');
    const std::string last = comma == std::string::npos ? rest : rest.substr(comma + 1);
    const std::size_t equals = last.find('=');
    const std::string key = last.substr(0, equals);
    const bool is_known =
        std::find(known_settings.begin(), known_settings.end(), key) != known_settings.end();
    if (equals == std::string::npos || !is_known) break;
    if (!result.settings.emplace(key, last.substr(equals + 1)).second) {
      throw std::invalid_argument(result.kind + ": found the setting " + key + " twice");
    }
    rest.resize(comma == std::string::npos ? 0 : comma);
  }
  result.place = rest;
  return result;
}

std::uint64_t parse_whole_number(const std::string& text, const std::string& what,
                                 std::uint64_t least, std::uint64_t most) {
  const std::optional<std::uint64_t> value = whole_number(text);
  if (value && *value >= least && *value <= most) return *value;
  throw std::invalid_argument(what + ": found " + in_quotes(text) +
                              ", expected a whole number from " + std::to_string(least) + " to " +
                              std::to_string(most));
}

SampleShape parse_shape(const std::string& text, const std::string& what) {
  constexpr std::uint64_t most = 65536;
  const std::size_t first = text.find('x');
  const std::size_t second = first == std::string::npos ? first : text.find('x', first + 1);
  if (second == std::string::npos) {
    throw std::invalid_argument(what + ": found " + in_quotes(text) +
                                ", expected channels x height x width such as 3x32x32");
  }
  const auto part = [&](std::size_t begin, std::size_t end) {
    return parse_whole_number(text.substr(begin, end - begin), what, 1, most);
  };
  return {part(first + 1, second), part(second + 1, text.size()), part(0, first)};
}

}  // namespace rubato::data
