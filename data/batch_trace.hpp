// A batch-size trace: the global batch size of each update.
//
// Read from a CSV file whose header names a column `batchsize`; blanks around fields are allowed,
// lines that begin with # are comments, columns other than these are ignored:
//
//   step        ignored; one warning if it does not count 0, 1, 2, ...
//   minibatch   samples of a forward and backward pass in the row's updates
//   update      makes the trace sparse: a row holds from its update, counted from 0, until the next
//               row's, the last one without end
//   epoch       of a sparse trace: the epoch in which the row's first update begins. One that the
//               samples have not come to by then ends there
//
// Without `update` there is one row an update, and the trace ends with the last one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::data {

struct TraceRow {
  std::uint64_t update = 0;  // the first one that it holds for
  std::uint64_t batch_size = 0;
  std::uint64_t minibatch = 0;              // 0: not said
  std::optional<std::uint64_t> epoch = {};  // nothing: not said
  bool operator==(const TraceRow&) const = default;
};

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
  // A sparse trace. Throws std::invalid_argument for rows that a file could not hold, or that say
  // something of minibatch or epoch only in part.
  static BatchTrace sparse(const std::vector<TraceRow>& rows);

  bool is_constant() const noexcept { return constant_; }
  bool is_sparse() const noexcept { return !updates_.empty(); }
  bool is_endless() const noexcept { return constant_ || is_sparse(); }
  bool has_minibatches() const noexcept { return !minibatches_.empty(); }

  std::uint64_t rows() const noexcept { return sizes_.size(); }  // 1 if constant
  std::uint64_t batch_size(std::uint64_t row) const { return sizes_[constant_ ? 0 : row]; }
  TraceRow row(std::uint64_t row) const;
  // The row that holds for an update; the last one for those beyond the end.
  std::uint64_t row_of(std::uint64_t update) const noexcept;
  // Updates that it takes for every row to have held.
  std::uint64_t updates_told() const noexcept { return is_sparse() ? updates_.back() + 1 : rows(); }
  std::uint64_t largest() const;

  const std::string& name() const noexcept { return name_; }  // the file, for messages
  std::string where(std::uint64_t row) const;                 // "FILE:LINE (row R)", for messages
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

  // As a file that reads back to the same rows.
  std::string as_csv() const;

 private:
  friend class TraceReader;
  std::string name_ = "trace";
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> minibatches_;  // of each row; empty: not said
  std::vector<std::uint64_t> updates_;      // the first of each row; empty: one row an update
  std::vector<std::uint64_t> epochs_;       // of each row; empty: not said
  std::vector<std::uint32_t> lines_;  // line of each row in the file, empty if not from a file
  std::vector<std::string> warnings_;
  bool constant_ = false;
};

}  // namespace rubato::data
