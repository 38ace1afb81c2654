// Reads a batch-size trace from comma-separated lines; batch_trace.hpp says what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "data/batch_trace.hpp"
#include "data/byte_stream.hpp"
#include "data/csv_lines.hpp"

namespace rubato::data {

constexpr std::uint64_t most_batch_size = std::numeric_limits<std::int32_t>::max();

class TraceReader {
 public:
  // Fills `trace`, which has nothing but a name.
  TraceReader(ByteStream& stream, BatchTrace& trace) : lines_(stream), trace_(trace) {}

  // Throws ContentError naming file, line and column, what was found and what was expected.
  void read();

 private:
  static constexpr std::size_t no_column = static_cast<std::size_t>(-1);
  struct Range {
    std::uint64_t least;
    std::uint64_t most;
  };
  void read_header();
  std::size_t* column_of(std::string_view name);
  void require_row() const;
  std::uint64_t number(std::size_t column, const std::string& name, Range range) const;
  std::uint64_t next_number(std::size_t column, const std::string& name, std::uint64_t least) const;
  void read_row();
  void warn_of_step();

  CsvLines lines_;
  BatchTrace& trace_;
  std::size_t batch_size_ = no_column;
  std::size_t step_ = no_column;
  std::size_t update_ = no_column;
  std::size_t minibatch_ = no_column;
  std::size_t epoch_ = no_column;
  std::size_t columns_ = 0;
};

}  // namespace rubato::data
