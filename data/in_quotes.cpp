// See in_quotes.hpp.
#include "data/in_quotes.hpp"

namespace rubato::data {
namespace {

std::string escaped(char character) {
  switch (character) {
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case '\n':
      return "\\n";
    case '\0':
      return "\\0";
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(character);
  if (byte >= 0x20 && byte < 0x7f) return std::string(1, character);
  constexpr std::string_view digits = "0123456789abcdef";
  return {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

}  // namespace

std::string in_quotes(std::string_view text, std::size_t limit) {
  std::string result = "\"";
  for (const char character : text.substr(0, limit)) result += escaped(character);
  return result + (text.size() > limit ? "..." : "") + "\"";
}

}  // namespace rubato::data
