// See batch_trace.hpp. A batch size is at most 2^31 - 1: no sum over a run then overflows 64 bits,
// and a slip of the keyboard is told from a batch.
#include "data/batch_trace.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "data/csv_lines.hpp"
#include "data/errors.hpp"
#include "data/file_bytes.hpp"
#include "data/in_quotes.hpp"

namespace rubato::data {
namespace {

constexpr std::uint64_t most_batch_size = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t most_file_bytes = std::uint64_t{64} << 20U;
constexpr std::size_t no_column = static_cast<std::size_t>(-1);

struct Columns {
  std::size_t batch_size = no_column;
  std::size_t step = no_column;
  std::size_t count = 0;
};

std::string names_of(const std::vector<CsvField>& fields) {
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(fields.size(), 8); ++i) {
    names += (i > 0 ? ", " : "") + in_quotes(fields[i].text);
  }
  return names + (fields.size() > 8 ? ", ..." : "");
}

Columns read_header(CsvLines& lines, const std::string& name) {
  if (!lines.next()) {
    throw ContentError(name + ": the file is empty, expected a header with a column batchsize");
  }
  Columns columns;
  columns.count = lines.fields().size();
  for (std::size_t i = 0; i < columns.count; ++i) {
    const CsvField& field = lines.fields()[i];
    std::size_t* known = field.text == "batchsize" ? &columns.batch_size
                         : field.text == "step"    ? &columns.step
                                                   : nullptr;
    if (known == nullptr) continue;
    if (*known != no_column) {
      lines.refuse(field.column,
                   "found a second column " + in_quotes(field.text) + ", expected one");
    }
    *known = i;
  }
  if (columns.batch_size == no_column) {
    lines.refuse(1, "found a header with " + names_of(lines.fields()) +
                        ", expected a comma-separated header with a column batchsize");
  }
  return columns;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::uint64_t read_batch_size(const CsvLines& lines, const Columns& columns) {
  if (lines.is_empty_line()) {
    lines.refuse(1, "found an empty line, expected a row with a batch size");
  }
  if (lines.fields().size() != columns.count) {
    lines.refuse(1, "found " + std::to_string(lines.fields().size()) + " fields, expected " +
                        std::to_string(columns.count) + " as in the header");
  }
  const CsvField& field = lines.fields()[columns.batch_size];
  const std::optional<std::uint64_t> value = whole_number(field.text);
  if (value && *value >= 1 && *value <= most_batch_size) return *value;
  const bool is_too_large =
      (value && *value > 0) ||
      (!field.text.empty() &&
       field.text.find_first_not_of("0123456789") == std::string_view::npos && !value);
  lines.refuse(field.column,
               "found " + (field.text.empty() ? "nothing" : in_quotes(field.text)) +
                   " in column batchsize, expected a whole number of at " +
                   (is_too_large ? "most " + std::to_string(most_batch_size) : "least 1"));
}

}  // namespace

BatchTrace BatchTrace::from_csv(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_file(file, most_file_bytes);
  return from_csv_text(as_text(bytes), file.string());
}

BatchTrace BatchTrace::from_csv_text(std::string_view text, const std::string& name) {
  ByteStream stream(std::as_bytes(std::span(text)), name);
  CsvLines lines(stream);
  const Columns columns = read_header(lines, name);
  BatchTrace trace;
  trace.name_ = name;
  while (lines.next()) {
    trace.sizes_.push_back(read_batch_size(lines, columns));
    trace.lines_.push_back(static_cast<std::uint32_t>(lines.line()));
    if (columns.step == no_column || !trace.warnings_.empty()) continue;
    const CsvField& step = lines.fields()[columns.step];
    const std::uint64_t row = trace.sizes_.size() - 1;
    if (whole_number(step.text) == row) continue;
    trace.warnings_.push_back(lines.place(step.column) + "found " + in_quotes(step.text) +
                              " in column step, where counting 0, 1, 2, ... gives " +
                              std::to_string(row) +
                              "; the column is ignored, rows are taken in their order");
  }
  if (trace.sizes_.empty()) {
    throw ContentError(name + ":" + std::to_string(lines.line()) +
                       ": found a header and no row, expected at least one row");
  }
  return trace;
}

BatchTrace BatchTrace::from_rows(std::vector<std::uint64_t> batch_sizes) {
  if (batch_sizes.empty()) {
    throw std::invalid_argument("trace: found no row, expected at least one batch size");
  }
  for (std::size_t row = 0; row < batch_sizes.size(); ++row) {
    if (batch_sizes[row] >= 1 && batch_sizes[row] <= most_batch_size) continue;
    throw std::invalid_argument("trace: found batch size " + std::to_string(batch_sizes[row]) +
                                " in row " + std::to_string(row) + ", expected 1 to " +
                                std::to_string(most_batch_size));
  }
  BatchTrace trace;
  trace.sizes_ = std::move(batch_sizes);
  return trace;
}

BatchTrace BatchTrace::constant(std::uint64_t batch_size) {
  BatchTrace trace = from_rows({batch_size});
  trace.name_ = "constant batch size";
  trace.endless_ = true;
  return trace;
}

std::uint64_t BatchTrace::largest() const {
  return *std::max_element(sizes_.begin(), sizes_.end());
}

std::string BatchTrace::where(std::uint64_t row) const {
  if (endless_) return name_;
  const std::string number = "row " + std::to_string(row);
  if (row >= lines_.size()) return name_ + " (" + number + ")";
  return name_ + ":" + std::to_string(lines_[row]) + " (" + number + ")";
}

}  // namespace rubato::data
