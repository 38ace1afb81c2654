// See html_text.hpp.
#include "app/html_text.hpp"

#include <cstddef>

namespace rubato::app {
namespace {

unsigned char byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

// Bytes that follow a first byte; 0 for one that begins none of them (Unicode, table 3-7).
std::size_t following_bytes(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF) return 1;
  if (first >= 0xE0 && first <= 0xEF) return 2;
  return first >= 0xF0 && first <= 0xF4 ? 3 : 0;
}

// Neither too long for what it says, nor a surrogate, nor beyond the last character.
bool is_second_byte(unsigned char first, unsigned char second) {
  if (first == 0xE0) return second >= 0xA0;
  if (first == 0xED) return second <= 0x9F;
  if (first == 0xF0) return second >= 0x90;
  return first != 0xF4 || second <= 0x8F;
}

// The length of the character beyond ASCII that begins there; 0 if none does.
std::size_t character_length(std::string_view text, std::size_t at) {
  const std::size_t following = following_bytes(byte_at(text, at));
  if (following == 0 || at + following >= text.size()) return 0;
  for (std::size_t i = 1; i <= following; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80U) return 0;
  }
  return is_second_byte(byte_at(text, at), byte_at(text, at + 1)) ? following + 1 : 0;
}

std::string reference(char character) {
  switch (character) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {character};
  }
}

std::string readable(std::string_view text, bool keeps_lines) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char byte = byte_at(text, at);
    const bool is_kept = keeps_lines && (byte == '\n' || byte == '\t');
    if (byte < 0x80) {
      shown += (byte < 0x20 || byte == 0x7F) && !is_kept ? ' ' : text[at];
      ++at;
      continue;
    }
    const std::size_t length = character_length(text, at);
    shown += length > 0 ? text.substr(at, length) : "\uFFFD";
    at += length > 0 ? length : 1;
  }
  return shown;
}

}  // namespace

std::string readable(std::string_view text) { return readable(text, /*keeps_lines=*/false); }

std::string html(std::string_view text, bool keeps_lines) {
  std::string shown;
  for (const char character : readable(text, keeps_lines)) shown += reference(character);
  return shown;
}

}  // namespace rubato::app
