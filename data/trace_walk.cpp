// See trace_walk.hpp. advance() is what both the validating walk and TracePlan::next() rest on, so
// what was checked is what runs.
//
// When is the last epoch complete under drop, if no row follows? A row that does not fit would end
// it. Where the trace has ended, its last row stands for the missing one: if that would not fit
// again, the epoch is complete.
#include "data/trace_walk.hpp"

#include <limits>
#include <string>

#include "data/errors.hpp"

namespace rubato::data {
namespace {

Cursor after(Cursor cursor, std::uint64_t batch_size) {
  ++cursor.update;
  ++cursor.row;
  cursor.samples += batch_size;
  return cursor;
}

Cursor next_epoch(Cursor cursor) {
  ++cursor.epoch;
  cursor.position = 0;
  cursor.minibatch = 0;
  return cursor;
}

}  // namespace

bool TraceWalk::is_run_over(const Cursor& cursor) const {
  return (options_.updates && cursor.update >= *options_.updates) ||
         (options_.epochs && cursor.epoch >= *options_.epochs) || !has_row(cursor.row);
}

bool TraceWalk::is_endless() const {
  return trace_.is_endless() || options_.trace_end == TraceEnd::repeat_last;
}

// Of the trace's rows, the one for an update; beyond the end the last one.
std::uint64_t TraceWalk::row_of(std::uint64_t row) const {
  if (!trace_.is_sparse()) return std::min(row, trace_.rows() - 1);
  if (row >= held_from_ && row < held_until_) return held_row_;
  held_row_ = trace_.row_of(row);
  held_from_ = trace_.row(held_row_).update;
  held_until_ = held_row_ + 1 < trace_.rows() ? trace_.row(held_row_ + 1).update
                                              : std::numeric_limits<std::uint64_t>::max();
  return held_row_;
}

std::uint64_t TraceWalk::minibatch(std::uint64_t row) const {
  return trace_.has_minibatches() ? trace_.row(row_of(row)).minibatch : options_.minibatch;
}

bool TraceWalk::fits(std::uint64_t row, std::uint64_t position) const {
  return batch_size(row) <= epoch_samples_ - position;
}

Cursor TraceWalk::settled(const Cursor& cursor) const {
  const bool is_used_up = is_drop() && !fits(cursor.row, cursor.position);
  return is_used_up ? next_epoch(cursor) : cursor;
}

TraceWalk::Step TraceWalk::advance(const Cursor& cursor) const {
  Step step = is_drop() ? advance_drop(cursor) : advance_carry(cursor);
  if (begins_later_epoch(step.end)) {
    step.end = next_epoch(step.end);
    step.ends_epoch = true;
  }
  if (trace_.is_sparse() && !is_run_over(step.end)) refuse_other_epoch(step.end);
  return step;
}

TraceWalk::Step TraceWalk::advance_drop(const Cursor& cursor) const {
  Step step{cursor, cursor, batch_size(cursor.row), minibatch(cursor.row), 0, false};
  refuse_larger_than_epoch(cursor.row);
  step.begin = settled(cursor);
  step.minibatch_count = pieces(step.batch_size, step.minibatch);
  step.end = after(step.begin, step.batch_size);
  step.end.position += step.batch_size;
  step.end.minibatch += step.minibatch_count;
  step.ends_epoch = !has_row(step.end.row) || !fits(step.end.row, step.end.position);
  if (step.ends_epoch) step.end = next_epoch(step.end);
  return step;
}

TraceWalk::Step TraceWalk::advance_carry(const Cursor& cursor) const {
  Step step{cursor,
            cursor,
            std::min(batch_size(cursor.row), samples_to_end(cursor)),
            minibatch(cursor.row),
            0,
            false};
  step.end = after(cursor, step.batch_size);
  const auto use = [&](std::uint64_t epoch, std::uint64_t begin, std::uint64_t size) {
    const std::uint64_t count = pieces(size, step.minibatch);
    step.minibatch_count += count;
    step.end.epoch = epoch;
    step.end.position = begin + size;
    step.end.minibatch = count + (epoch == cursor.epoch ? cursor.minibatch : 0);
  };
  for_each_part(cursor, step.batch_size, epoch_samples_, use);
  if (step.end.position == epoch_samples_) step.end = next_epoch(step.end);
  step.ends_epoch = step.end.epoch > cursor.epoch;
  return step;
}

// Under carry the last update is cut where the last epoch ends; under cut, that of every epoch.
std::uint64_t TraceWalk::samples_to_end(const Cursor& cursor) const {
  if (options_.epoch_end == EpochEnd::cut) return epoch_samples_ - cursor.position;
  if (!options_.epochs) return batch_size(cursor.row);
  return (*options_.epochs - cursor.epoch) * epoch_samples_ - cursor.position;
}

// Whether a row of a sparse trace begins at the cursor, and in the epoch after the cursor's, of
// which some samples were used.
bool TraceWalk::begins_later_epoch(const Cursor& cursor) const {
  if (!trace_.is_sparse() || cursor.position == 0) return false;
  const std::uint64_t row = row_of(cursor.row);
  return held_from_ == cursor.row && trace_.row(row).epoch == cursor.epoch + 1;
}

void TraceWalk::refuse_other_epoch(const Cursor& cursor) const {
  const std::uint64_t row = row_of(cursor.row);
  if (held_from_ != cursor.row) return;
  const auto epoch = trace_.row(row).epoch;
  if (!epoch || *epoch == cursor.epoch) return;
  throw ContentError(trace_.where(row) + ": found epoch " + std::to_string(*epoch) +
                     ", expected epoch " + std::to_string(cursor.epoch) +
                     (*epoch > cursor.epoch && cursor.position > 0 ? " or the one after it" : "") +
                     ", where update " + std::to_string(cursor.update) +
                     " begins; the trace is of other data, or was cut otherwise (--epoch-end)");
}

void TraceWalk::refuse_larger_than_epoch(std::uint64_t row) const {
  if (fits(row, 0)) return;
  const std::string minibatches =
      trace_.has_minibatches() ? ""
                               : " (" + std::to_string(epoch_samples_ / options_.minibatch) +
                                     " minibatches of " + std::to_string(options_.minibatch) + ")";
  throw ContentError(trace_.where(row_of(row)) + ": found batch size " +
                     std::to_string(batch_size(row)) + ", expected at most the " +
                     std::to_string(epoch_samples_) + " samples of an epoch" + minibatches +
                     "; use smaller batches, or --epoch-end carry");
}

}  // namespace rubato::data
