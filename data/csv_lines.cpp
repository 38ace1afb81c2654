// See csv_lines.hpp. The text passes through one buffer that never holds more than a line and a
// block.
#include "data/csv_lines.hpp"

#include <algorithm>

#include "data/errors.hpp"
#include "data/in_quotes.hpp"

namespace rubato::data {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16U;
constexpr std::size_t most_line_bytes = std::size_t{1} << 20U;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_blank(char character) { return character == ' ' || character == '\t'; }

CsvField trimmed(std::string_view line, std::size_t begin, std::size_t end) {
  while (begin < end && is_blank(line[begin])) ++begin;
  while (end > begin && is_blank(line[end - 1])) --end;
  return {line.substr(begin, end - begin), begin + 1};
}

}  // namespace

bool CsvLines::next() {
  do {
    if (!fetch_line()) return false;
    ++line_;
    if (line_ == 1 && text_.starts_with(byte_order_mark)) text_.remove_prefix(3);
    if (text_.ends_with('\r')) text_.remove_suffix(1);
  } while (text_.starts_with('#'));
  check_characters();
  split();
  return true;
}

bool CsvLines::fetch_line() {
  std::size_t searched = begin_;
  std::size_t end = buffer_.find('\n', searched);
  while (end == std::string::npos) {
    if (buffer_.size() - begin_ > most_line_bytes) {
      ++line_;
      refuse(1, "found a line longer than 1 MiB, expected short comma-separated fields");
    }
    searched = buffer_.size() - begin_;  // refill() moves begin_ to 0
    if (!refill()) break;
    end = buffer_.find('\n', searched);
  }
  if (end == std::string::npos) {
    if (begin_ == buffer_.size()) return false;
    end = buffer_.size();
  }
  text_ = std::string_view(buffer_).substr(begin_, end - begin_);
  begin_ = std::min(end + 1, buffer_.size());
  return true;
}

bool CsvLines::refill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + block_bytes);
  const auto free_space = std::as_writable_bytes(std::span(buffer_)).subspan(kept);
  buffer_.resize(kept + stream_.read_some(free_space));
  return buffer_.size() > kept;
}

void CsvLines::check_characters() const {
  const std::size_t bad = text_.find_first_of(std::string_view("\0\"", 2));
  if (bad == std::string_view::npos) return;
  if (text_[bad] == '"') {
    refuse(bad + 1, "found a quotation mark, expected plain fields without quotes");
  }
  refuse(bad + 1, "found a NUL byte, expected text");
}

void CsvLines::split() {
  fields_.clear();
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = std::min(text_.find(',', begin), text_.size());
    fields_.push_back(trimmed(text_, begin, end));
    if (end == text_.size()) return;
    begin = end + 1;
  }
}

std::string CsvLines::place(std::size_t column) const {
  return stream_.name() + ":" + std::to_string(line_) + ":" + std::to_string(column) + ": ";
}

void CsvLines::refuse(std::size_t column, const std::string& message) const {
  throw ContentError(place(column) + message);
}

}  // namespace rubato::data
