// See batch_trace.hpp. A batch size is at most 2^31 - 1: no sum over a run then overflows 64 bits,
// and a slip of the keyboard is told from a batch.
#include "data/batch_trace.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "data/file_bytes.hpp"
#include "data/trace_reader.hpp"

namespace rubato::data {
namespace {

constexpr std::uint64_t most_trace_bytes = std::uint64_t{64} << 20U;

}  // namespace

BatchTrace BatchTrace::from_csv(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_file(file, most_trace_bytes);
  return from_csv_text(as_text(bytes), file.string());
}

BatchTrace BatchTrace::from_csv_text(std::string_view text, const std::string& name) {
  ByteStream stream(std::as_bytes(std::span(text)), name);
  BatchTrace trace;
  trace.name_ = name;
  TraceReader(stream, trace).read();
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
  trace.name_ = "--batch-size";
  trace.constant_ = true;
  return trace;
}

BatchTrace BatchTrace::sparse(const std::vector<TraceRow>& rows) {
  std::vector<std::uint64_t> sizes;
  for (const TraceRow& row : rows) sizes.push_back(row.batch_size);
  BatchTrace trace = from_rows(std::move(sizes));
  const auto refuse = [](std::size_t row, const std::string& message) {
    throw std::invalid_argument("trace: row " + std::to_string(row) + " " + message);
  };
  const TraceRow& first = rows.front();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TraceRow& row = rows[i];
    const bool follows = i == 0 ? row.update == 0 : row.update > rows[i - 1].update;
    if (!follows) refuse(i, "does not begin after the one before, or the first one at update 0");
    if (row.epoch.has_value() != first.epoch.has_value()) refuse(i, "differs in having an epoch");
    if ((row.minibatch == 0) != (first.minibatch == 0)) refuse(i, "differs in having a minibatch");
    if (row.minibatch > most_batch_size) refuse(i, "has a minibatch that is too large");
    if (row.epoch && *row.epoch < (i == 0 ? *row.epoch : *rows[i - 1].epoch)) {
      refuse(i, "begins in an epoch before that of the row before");
    }
    trace.updates_.push_back(row.update);
    if (row.epoch) trace.epochs_.push_back(*row.epoch);
    if (row.minibatch > 0) trace.minibatches_.push_back(row.minibatch);
  }
  return trace;
}

TraceRow BatchTrace::row(std::uint64_t row) const {
  TraceRow result{.update = is_sparse() ? updates_[row] : row, .batch_size = sizes_[row]};
  if (!minibatches_.empty()) result.minibatch = minibatches_[row];
  if (!epochs_.empty()) result.epoch = epochs_[row];
  return result;
}

std::uint64_t BatchTrace::row_of(std::uint64_t update) const noexcept {
  if (!is_sparse()) return std::min(update, rows() - 1);
  const auto after = std::ranges::upper_bound(updates_, update);
  return static_cast<std::uint64_t>(after - updates_.begin()) - 1;
}

std::uint64_t BatchTrace::largest() const {
  return *std::max_element(sizes_.begin(), sizes_.end());
}

std::string BatchTrace::where(std::uint64_t row) const {
  if (constant_) return name_;
  const std::string number = "row " + std::to_string(row);
  if (row >= lines_.size()) return name_ + " (" + number + ")";
  return name_ + ":" + std::to_string(lines_[row]) + " (" + number + ")";
}

std::string BatchTrace::as_csv() const {
  std::ostringstream csv;
  csv << (is_sparse() ? "update" : "step") << ",batchsize"
      << (has_minibatches() ? ",minibatch" : "") << (epochs_.empty() ? "" : ",epoch") << '\n';
  for (std::uint64_t i = 0; i < rows(); ++i) {
    const TraceRow told = row(i);
    csv << told.update << ',' << told.batch_size;
    if (has_minibatches()) csv << ',' << told.minibatch;
    if (told.epoch) csv << ',' << *told.epoch;
    csv << '\n';
  }
  return csv.str();
}

}  // namespace rubato::data
