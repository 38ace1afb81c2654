// See text_pieces.hpp.
#include "runtime/text_pieces.hpp"

#include <algorithm>

namespace rubato::runtime {

namespace {

constexpr std::size_t piece_bytes = 16 * 1024;

std::string piece_name(const std::string& name, std::size_t index) {
  return index == 0 ? name : name + " " + std::to_string(index + 1);
}

}  // namespace

void append_in_pieces(const std::string& name, const std::string& text,
                      std::vector<ContextEntry>& entries) {
  for (std::size_t begin = 0; begin < text.size(); begin += piece_bytes) {
    entries.push_back({piece_name(name, begin / piece_bytes), text.substr(begin, piece_bytes)});
  }
}

std::string joined_pieces(const std::vector<ContextEntry>& entries, const std::string& name) {
  std::string text;
  for (std::size_t index = 0;; ++index) {
    const auto piece = std::ranges::find(entries, piece_name(name, index), &ContextEntry::name);
    if (piece == entries.end()) return text;
    text += piece->value;
  }
}

}  // namespace rubato::runtime
