// See trace_reader.hpp.
#include "data/trace_reader.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "data/errors.hpp"
#include "data/in_quotes.hpp"

namespace rubato::data {
namespace {

std::string names_of(const std::vector<CsvField>& fields) {
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(fields.size(), 8); ++i) {
    names += (i > 0 ? ", " : "") + in_quotes(fields[i].text);
  }
  return names + (fields.size() > 8 ? ", ..." : "");
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool is_all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string found(std::string_view text, const std::string& name) {
  return "found " + (text.empty() ? "nothing" : in_quotes(text)) + " in column " + name;
}

}  // namespace

std::size_t* TraceReader::column_of(std::string_view name) {
  if (name == "batchsize") return &batch_size_;
  if (name == "step") return &step_;
  if (name == "update") return &update_;
  if (name == "minibatch") return &minibatch_;
  return name == "epoch" ? &epoch_ : nullptr;
}

void TraceReader::read_header() {
  if (!lines_.next()) {
    throw ContentError(trace_.name() +
                       ": the file is empty, expected a header with a column batchsize");
  }
  columns_ = lines_.fields().size();
  for (std::size_t i = 0; i < columns_; ++i) {
    const CsvField& field = lines_.fields()[i];
    std::size_t* const known = column_of(field.text);
    if (known == nullptr) continue;
    if (*known != no_column) {
      lines_.refuse(field.column,
                    "found a second column " + in_quotes(field.text) + ", expected one");
    }
    *known = i;
  }
  if (batch_size_ == no_column) {
    lines_.refuse(1, "found a header with " + names_of(lines_.fields()) +
                         ", expected a comma-separated header with a column batchsize");
  }
  if (update_ == no_column) epoch_ = no_column;  // of a sparse trace only
}

void TraceReader::require_row() const {
  if (lines_.is_empty_line()) {
    lines_.refuse(1, "found an empty line, expected a row with a batch size");
  }
  if (lines_.fields().size() == columns_) return;
  lines_.refuse(1, "found " + std::to_string(lines_.fields().size()) + " fields, expected " +
                       std::to_string(columns_) + " as in the header");
}

std::uint64_t TraceReader::number(std::size_t column, const std::string& name, Range range) const {
  const CsvField& field = lines_.fields()[column];
  const std::optional<std::uint64_t> value = whole_number(field.text);
  if (value && *value >= range.least && *value <= range.most) return *value;
  const bool is_too_large = value ? *value > range.most : is_all_digits(field.text);
  lines_.refuse(field.column, found(field.text, name) + ", expected a whole number of at " +
                                  (is_too_large ? "most " + std::to_string(range.most)
                                                : "least " + std::to_string(range.least)));
}

// A number of the first row that is 0, or of a later one that is at least so large.
std::uint64_t TraceReader::next_number(std::size_t column, const std::string& name,
                                       std::uint64_t least) const {
  if (!trace_.sizes_.empty()) return number(column, name, {least, most_batch_size});
  const CsvField& field = lines_.fields()[column];
  if (whole_number(field.text) == std::uint64_t{0}) return 0;
  lines_.refuse(field.column,
                found(field.text, name) + ", expected 0, for a run begins with the first row");
}

void TraceReader::read_row() {
  require_row();
  if (update_ != no_column) {
    const std::uint64_t least = trace_.is_sparse() ? trace_.updates_.back() + 1 : 0;
    trace_.updates_.push_back(next_number(update_, "update", least));
  }
  if (epoch_ != no_column) {
    const std::uint64_t least = trace_.epochs_.empty() ? 0 : trace_.epochs_.back();
    trace_.epochs_.push_back(next_number(epoch_, "epoch", least));
  }
  if (minibatch_ != no_column) {
    trace_.minibatches_.push_back(number(minibatch_, "minibatch", {1, most_batch_size}));
  }
  trace_.sizes_.push_back(number(batch_size_, "batchsize", {1, most_batch_size}));
  trace_.lines_.push_back(static_cast<std::uint32_t>(lines_.line()));
}

void TraceReader::warn_of_step() {
  if (step_ == no_column || update_ != no_column || !trace_.warnings_.empty()) return;
  const CsvField& step = lines_.fields()[step_];
  const std::uint64_t row = trace_.sizes_.size() - 1;
  if (whole_number(step.text) == row) return;
  trace_.warnings_.push_back(lines_.place(step.column) + "found " + in_quotes(step.text) +
                             " in column step, where counting 0, 1, 2, ... gives " +
                             std::to_string(row) +
                             "; the column is ignored, rows are taken in their order");
}

void TraceReader::read() {
  read_header();
  while (lines_.next()) {
    read_row();
    warn_of_step();
  }
  if (!trace_.sizes_.empty()) return;
  throw ContentError(trace_.name() + ":" + std::to_string(lines_.line()) +
                     ": found a header and no row, expected at least one row");
}

}  // namespace rubato::data
