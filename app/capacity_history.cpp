// See capacity_history.hpp.
#include "app/capacity_history.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "app/option_value.hpp"
#include "data/byte_stream.hpp"
#include "data/csv_lines.hpp"
#include "data/errors.hpp"
#include "data/file_bytes.hpp"
#include "data/in_quotes.hpp"

namespace rubato::app {
namespace {

constexpr std::uint64_t most_file_bytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t most_devices = std::numeric_limits<std::int32_t>::max();

struct Columns {
  std::size_t time = 0;
  std::size_t devices = 0;
  std::size_t count = 0;
};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// The only column whose name is among `names`, in lower case.
std::size_t find_column(const data::CsvLines& lines, const std::vector<std::string>& names,
                        const std::string& expected) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < lines.fields().size(); ++i) {
    const auto& field = lines.fields()[i];
    if (std::find(names.begin(), names.end(), in_lower_case(field.text)) == names.end()) continue;
    if (found) {
      lines.refuse(field.column, "found a second column " + data::in_quotes(field.text) +
                                     ", expected " + expected);
    }
    found = i;
  }
  if (!found) lines.refuse(1, "found no such column in the header, expected " + expected);
  return *found;
}

Columns read_header(data::CsvLines& lines, const std::string& name, const std::string& column) {
  if (!lines.next()) {
    throw data::ContentError(name + ": the file is empty, expected a header with a column time");
  }
  const std::vector<std::string> usual{"gpus", "tpu_cores", "devices", "capacity"};
  return {.time = find_column(lines, {"time"}, "one column time"),
          .devices =
              column.empty()
                  ? find_column(lines, usual,
                                "one of the columns GPUs, TPU_cores, devices and capacity; or give"
                                " --column NAME")
                  : find_column(lines, {in_lower_case(column)},
                                "one column " + data::in_quotes(column)),
          .count = lines.fields().size()};
}

void check_row(const data::CsvLines& lines, const Columns& columns) {
  if (lines.fields().size() == columns.count) return;
  lines.refuse(1, "found " + std::to_string(lines.fields().size()) + " fields, expected " +
                      std::to_string(columns.count) + " as in the header");
}

double read_time(const data::CsvLines& lines, const Columns& columns) {
  const auto& field = lines.fields()[columns.time];
  const auto value = parse_whole<double>(field.text);
  if (value && std::isfinite(*value)) return *value;
  lines.refuse(field.column,
               "found " + data::in_quotes(field.text) + ", expected a time in seconds");
}

std::uint64_t read_devices(const data::CsvLines& lines, const Columns& columns) {
  const auto& field = lines.fields()[columns.devices];
  const auto value = parse_whole<std::uint64_t>(field.text);
  if (value && *value <= most_devices) return *value;
  lines.refuse(field.column, "found " + data::in_quotes(field.text) +
                                 ", expected a whole number of devices from 0 to " +
                                 std::to_string(most_devices));
}

}  // namespace

CapacityHistory CapacityHistory::from_csv(const std::filesystem::path& file,
                                          const std::string& column) {
  const auto bytes = data::read_file(file, most_file_bytes);
  return from_csv_text(data::as_text(bytes), file.string(), column);
}

CapacityHistory CapacityHistory::from_csv_text(std::string_view text, const std::string& name,
                                               const std::string& column) {
  data::ByteStream stream(std::as_bytes(std::span(text)), name);
  data::CsvLines lines(stream);
  const Columns columns = read_header(lines, name, column);
  CapacityHistory history;
  double first = 0;
  while (lines.next()) {
    check_row(lines, columns);
    const double time = read_time(lines, columns);
    if (history.rows_.empty()) first = time;
    const double seconds = time - first;
    if (!history.rows_.empty() && seconds <= history.rows_.back().seconds) {
      const auto& field = lines.fields()[columns.time];
      lines.refuse(field.column, "found " + data::in_quotes(field.text) +
                                     ", expected a time later than that of the row before");
    }
    history.rows_.push_back({seconds, read_devices(lines, columns)});
  }
  if (history.rows_.empty() || history.largest() == 0) {
    throw data::ContentError(name + ": found no row with a device, expected at least one");
  }
  return history;
}

std::uint64_t CapacityHistory::largest() const {
  std::uint64_t largest = 0;
  for (const auto& row : rows_) largest = std::max(largest, row.devices);
  return largest;
}

std::uint64_t CapacityHistory::devices_at(double seconds) const {
  const auto is_later = [](double time, const CapacityRow& row) { return time < row.seconds; };
  const auto next = std::upper_bound(rows_.begin(), rows_.end(), seconds, is_later);
  return next == rows_.begin() ? rows_.front().devices : std::prev(next)->devices;
}

}  // namespace rubato::app
