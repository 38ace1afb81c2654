// Steps through the run of a plan: what each update does to the cursor, without listing its
// minibatches. A few nanoseconds an update.
#pragma once

#include <algorithm>
#include <cstdint>

#include "data/batch_trace.hpp"
#include "data/trace_plan.hpp"

namespace rubato::data {

// Minibatches for so many samples, the last one perhaps short.
constexpr std::uint64_t pieces(std::uint64_t samples, std::uint64_t minibatch) {
  return samples / minibatch + (samples % minibatch != 0 ? 1 : 0);
}

// Calls visit(epoch, begin, size) for the part of an update that lies in each epoch, in order.
template <typename Visit>
void for_each_part(const Cursor& cursor, std::uint64_t batch_size, std::uint64_t epoch_samples,
                   const Visit& visit) {
  std::uint64_t epoch = cursor.epoch;
  std::uint64_t begin = cursor.position;
  while (batch_size > 0) {
    const std::uint64_t size = std::min(batch_size, epoch_samples - begin);
    visit(epoch, begin, size);
    batch_size -= size;
    begin = 0;
    ++epoch;
  }
}

class TraceWalk {
 public:
  struct Step {
    Cursor begin;
    Cursor end;
    std::uint64_t batch_size = 0;
    std::uint64_t minibatch = 0;
    std::uint64_t minibatch_count = 0;
    bool ends_epoch = false;
  };

  TraceWalk(const BatchTrace& trace, const PlanOptions& options, std::uint64_t epoch_samples)
      : trace_(trace), options_(options), epoch_samples_(epoch_samples) {}

  bool is_run_over(const Cursor& cursor) const;
  bool has_row(std::uint64_t row) const { return is_endless() || row < trace_.rows(); }
  bool is_drop() const { return options_.epoch_end == EpochEnd::drop; }
  bool is_endless() const;
  bool fits(std::uint64_t row, std::uint64_t position) const;
  // In the next epoch, if under drop the row that comes next does not fit in this one.
  Cursor settled(const Cursor& cursor) const;

  // Throws ContentError naming the row that is larger than an epoch, or that does not begin in the
  // epoch that it says.
  Step advance(const Cursor& cursor) const;

 private:
  std::uint64_t row_of(std::uint64_t row) const;
  std::uint64_t batch_size(std::uint64_t row) const { return trace_.batch_size(row_of(row)); }
  std::uint64_t minibatch(std::uint64_t row) const;
  Step advance_drop(const Cursor& cursor) const;
  Step advance_carry(const Cursor& cursor) const;
  std::uint64_t samples_to_end(const Cursor& cursor) const;
  bool begins_later_epoch(const Cursor& cursor) const;
  void refuse_larger_than_epoch(std::uint64_t row) const;
  void refuse_other_epoch(const Cursor& cursor) const;

  const BatchTrace& trace_;
  const PlanOptions& options_;
  std::uint64_t epoch_samples_;
  mutable std::uint64_t held_row_ = 0;  // of a sparse trace: the one asked for last
  mutable std::uint64_t held_from_ = 0;
  mutable std::uint64_t held_until_ = 0;
};

}  // namespace rubato::data
