// Comma-separated lines, one at a time, each field with its place in the file.
//
// Fields are plain: blanks around them are cut off, quoting is refused (no number or column name
// needs it). A byte-order mark and carriage returns before line ends are passed over; lines that
// begin with # are comments. An empty line is given as one empty field: whether that is wrong is
// the reader's decision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_stream.hpp"

namespace rubato::data {

struct CsvField {
  std::string_view text;
  std::size_t column = 1;  // of its first character in the line, from 1
};

class CsvLines {
 public:
  explicit CsvLines(ByteStream& stream) : stream_(stream) {}

  // Moves to the next line that is no comment; false at the end. Throws ContentError on a NUL, a
  // quote, or a line over 1 MiB.
  bool next();
  std::uint64_t line() const noexcept { return line_; }  // its number, from 1
  const std::vector<CsvField>& fields() const noexcept { return fields_; }
  bool is_empty_line() const noexcept { return fields_.size() == 1 && fields_[0].text.empty(); }

  // "FILE:LINE:COLUMN: "
  std::string place(std::size_t column) const;
  // Throws ContentError "FILE:LINE:COLUMN: MESSAGE".
  [[noreturn]] void refuse(std::size_t column, const std::string& message) const;

 private:
  bool fetch_line();  // text_ becomes the next line, without its end
  bool refill();
  void check_characters() const;
  void split();

  ByteStream& stream_;
  std::string buffer_;  // read, and from begin_ on not yet given out
  std::size_t begin_ = 0;
  std::string_view text_;
  std::uint64_t line_ = 0;
  std::vector<CsvField> fields_;
};

}  // namespace rubato::data
