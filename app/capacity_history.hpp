// A recorded history of how many devices there were: rows of time and number, from a CSV file such
// as those of published cluster traces.
//
// The file's header names a column `time` (any case), in seconds, ascending, and one of `GPUs`,
// `TPU_cores`, `devices` or `capacity`, or the column asked for. Others are ignored, lines that
// begin with # are comments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::app {

struct CapacityRow {
  double seconds = 0;  // since the first row
  std::uint64_t devices = 0;

  bool operator==(const CapacityRow&) const = default;
};

class CapacityHistory {
 public:
  // `column` may be empty: the one that is there. Throws data::MissingFileError, or
  // data::ContentError naming file, line and column, what was found and what was expected.
  static CapacityHistory from_csv(const std::filesystem::path& file, const std::string& column);
  static CapacityHistory from_csv_text(std::string_view text, const std::string& name,
                                       const std::string& column);

  const std::vector<CapacityRow>& rows() const noexcept { return rows_; }  // at least one
  std::uint64_t largest() const;                                           // at least 1
  // The number at a time: that of the last row not later. The last row stays for ever.
  std::uint64_t devices_at(double seconds) const;

 private:
  std::vector<CapacityRow> rows_;
};

}  // namespace rubato::app
