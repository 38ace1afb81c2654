// A batch-size trace: the global batch size of each update, one row an update.
//
// Read from a CSV file whose header names a column `batchsize`; blanks around fields are allowed, a
// column `step` is ignored (one warning if it does not count 0, 1, 2, ...), other columns are
// ignored, lines that begin with # are comments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::data {

class BatchTrace {
 public:
  // Throws MissingFileError, or ContentError naming file, line and column, what was found and what
  // was expected.
  static BatchTrace from_csv(const std::filesystem::path& file);
  static BatchTrace from_csv_text(std::string_view text,
                                  const std::string& name);  // the same, from memory
  static BatchTrace from_rows(
      std::vector<std::uint64_t> batch_sizes);  // throws std::invalid_argument on 0 or no row
  static BatchTrace constant(std::uint64_t batch_size);  // without end

  bool is_endless() const noexcept { return endless_; }
  std::uint64_t rows() const noexcept { return sizes_.size(); }  // 1 if endless
  std::uint64_t batch_size(std::uint64_t row) const { return endless_ ? sizes_[0] : sizes_[row]; }
  std::uint64_t largest() const;

  const std::string& name() const noexcept { return name_; }  // the file, for messages
  std::string where(std::uint64_t row) const;                 // "FILE:LINE (row R)", for messages
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  std::string name_ = "trace";
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint32_t> lines_;  // line of each row in the file, empty if not from a file
  std::vector<std::string> warnings_;
  bool endless_ = false;
};

}  // namespace rubato::data
