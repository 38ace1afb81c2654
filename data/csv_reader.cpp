// See csv_reader.hpp. Numbers are read without regard to the locale (std::from_chars), as double,
// and stored as float.
#include "data/csv_reader.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "data/csv_lines.hpp"
#include "data/errors.hpp"
#include "data/file_bytes.hpp"
#include "data/in_quotes.hpp"

namespace rubato::data {
namespace {

constexpr std::uint64_t most_csv_bytes = std::uint64_t{64} << 30U;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool is_header(const std::vector<CsvField>& fields) {
  for (const CsvField& field : fields) {
    if (!field.text.empty() && !number(field.text)) return true;
  }
  return false;
}

std::optional<std::size_t> column_named(const std::vector<CsvField>& header,
                                        const std::string& name) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i].text == name) return i;
  }
  return std::nullopt;
}

std::size_t find_label_column(const CsvLines& first_line, bool has_header,
                              const std::optional<std::string>& wanted, const std::string& file) {
  const std::vector<CsvField>& fields = first_line.fields();
  if (!wanted) return fields.size() - 1;
  if (has_header) {
    if (const auto column = column_named(fields, *wanted)) return *column;
  }
  std::size_t column = 0;
  const char* end = wanted->data() + wanted->size();
  const auto [stop, error] = std::from_chars(wanted->data(), end, column);
  if (error == std::errc{} && stop == end && column < fields.size()) return column;
  throw std::invalid_argument("label-column: found " + in_quotes(*wanted) + ", expected " +
                              (has_header ? "a name from the header or " : "") +
                              "a number from 0 to " + std::to_string(fields.size() - 1) +
                              ", a column of " + file);
}

class RowReader {
 public:
  RowReader(CsvLines& lines, std::size_t label_column)
      : lines_(lines), label_column_(label_column), columns_(lines.fields().size()) {}

  void read(std::vector<float>& values, std::vector<std::int32_t>& labels) const {
    const std::vector<CsvField>& fields = lines_.fields();
    if (lines_.is_empty_line()) lines_.refuse(1, "found an empty line, expected a sample");
    if (fields.size() != columns_) {
      lines_.refuse(1, "found " + std::to_string(fields.size()) + " fields, expected " +
                           std::to_string(columns_) + " as in the first line");
    }
    for (std::size_t i = 0; i < columns_; ++i) {
      if (i == label_column_) {
        labels.push_back(label(fields[i]));
      } else {
        values.push_back(feature(fields[i]));
      }
    }
  }

 private:
  std::int32_t label(const CsvField& field) const {
    const std::optional<double> value = number(field.text);
    if (value && *value >= 0 && *value <= static_cast<double>(most_label) &&
        *value == std::floor(*value)) {
      return static_cast<std::int32_t>(*value);
    }
    refuse(field,
           "in the label column, expected a whole number from 0 to " + std::to_string(most_label));
  }

  float feature(const CsvField& field) const {
    const std::optional<double> value = number(field.text);
    if (value && std::isfinite(static_cast<float>(*value))) return static_cast<float>(*value);
    refuse(field, "expected a finite number");
  }

  [[noreturn]] void refuse(const CsvField& field, const std::string& expected) const {
    lines_.refuse(field.column, "found " +
                                    (field.text.empty() ? "nothing" : in_quotes(field.text)) +
                                    (expected.starts_with("in ") ? " " : ", ") + expected);
  }

  CsvLines& lines_;
  std::size_t label_column_;
  std::size_t columns_;
};

SampleShape checked_shape(const std::optional<SampleShape>& wanted, std::size_t features,
                          const std::string& file) {
  if (features == 0) {
    throw ContentError(file + ": found a single column, expected features and a label");
  }
  if (!wanted) return {1, 1, features};
  if (wanted->size() != features) {
    throw std::invalid_argument(
        "shape: found " + std::to_string(wanted->channels) + "x" + std::to_string(wanted->height) +
        "x" + std::to_string(wanted->width) + " = " + std::to_string(wanted->size()) +
        " values, expected the " + std::to_string(features) + " features of " + file);
  }
  return *wanted;
}

}  // namespace

RawSamples parse_csv(std::span<const std::byte> bytes, const std::string& name,
                     const CsvOptions& options) {
  ByteStream stream(bytes, name);
  CsvLines lines(stream);
  bool has_line = lines.next();
  if (!has_line) throw ContentError(name + ": the file is empty, expected rows of numbers");
  const bool has_header = is_header(lines.fields());
  const std::size_t label_column = find_label_column(lines, has_header, options.label_column, name);
  const SampleShape shape = checked_shape(options.shape, lines.fields().size() - 1, name);
  const RowReader row(lines, label_column);
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  if (has_header) has_line = lines.next();
  for (; has_line; has_line = lines.next()) row.read(values, labels);
  if (labels.empty()) throw ContentError(name + ": found a header and no row, expected samples");
  RawSamples samples{name, shape, std::move(values), std::move(labels)};
  to_channels_last(samples.values, shape);
  return samples;
}

RawSamples read_csv(const std::filesystem::path& file, const CsvOptions& options) {
  return parse_csv(read_file(file, most_csv_bytes), file.string(), options);
}

}  // namespace rubato::data
