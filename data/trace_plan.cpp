// See trace_plan.hpp. One function, advance(), says what an update does to the cursor without
// listing its minibatches; the validating walk and next() both rest on it, so what was checked is
// what runs.
//
// When is the last epoch complete under drop, if no row follows? A row that does not fit would end
// it. Where the trace has ended, its last row stands for the missing one: if that would not fit
// again, the epoch is complete.
#include "data/trace_plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "data/errors.hpp"

namespace rubato::data {
namespace {

std::uint64_t pieces(std::uint64_t samples, std::uint64_t minibatch) {
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

struct Step {
  Cursor begin;
  Cursor end;
  std::uint64_t batch_size = 0;
  std::uint64_t minibatch_count = 0;
  bool ends_epoch = false;
};

// Steps through the run of a plan.
class Walk {
 public:
  Walk(const BatchTrace& trace, const PlanOptions& options, std::uint64_t epoch_samples)
      : trace_(trace), options_(options), epoch_samples_(epoch_samples) {}

  bool is_run_over(const Cursor& cursor) const {
    return (options_.updates && cursor.update >= *options_.updates) ||
           (options_.epochs && cursor.epoch >= *options_.epochs) || !has_row(cursor.row);
  }

  bool has_row(std::uint64_t row) const { return is_endless() || row < trace_.rows(); }
  bool is_drop() const { return options_.epoch_end == EpochEnd::drop; }
  bool is_endless() const {
    return trace_.is_endless() || options_.trace_end == TraceEnd::repeat_last;
  }
  // Rows beyond the end stand for the last one.
  std::uint64_t rows_batch_size(std::uint64_t row) const {
    return trace_.batch_size(std::min(row, trace_.rows() - 1));
  }
  bool fits(std::uint64_t row, std::uint64_t position) const {
    return rows_batch_size(row) <= epoch_samples_ - position;
  }

  Step advance(const Cursor& cursor) const {
    return is_drop() ? advance_drop(cursor) : advance_carry(cursor);
  }

 private:
  Step advance_drop(const Cursor& cursor) const {
    Step step{cursor, cursor, rows_batch_size(cursor.row), 0, false};
    refuse_larger_than_epoch(cursor.row);
    if (!fits(cursor.row, cursor.position)) step.begin = next_epoch(cursor);
    step.minibatch_count = pieces(step.batch_size, options_.minibatch);
    step.end = after(step.begin, step.batch_size);
    step.end.position += step.batch_size;
    step.end.minibatch += step.minibatch_count;
    step.ends_epoch = !has_row(step.end.row) || !fits(step.end.row, step.end.position);
    if (step.ends_epoch) step.end = next_epoch(step.end);
    return step;
  }

  Step advance_carry(const Cursor& cursor) const {
    Step step{cursor, cursor, std::min(rows_batch_size(cursor.row), samples_to_end(cursor)), 0,
              false};
    step.end = after(cursor, step.batch_size);
    const auto use = [&](std::uint64_t epoch, std::uint64_t begin, std::uint64_t size) {
      const std::uint64_t count = pieces(size, options_.minibatch);
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

  static Cursor after(Cursor cursor, std::uint64_t batch_size) {
    ++cursor.update;
    ++cursor.row;
    cursor.samples += batch_size;
    return cursor;
  }

  static Cursor next_epoch(Cursor cursor) {
    ++cursor.epoch;
    cursor.position = 0;
    cursor.minibatch = 0;
    return cursor;
  }

  // Under carry the last update is cut where the last epoch ends.
  std::uint64_t samples_to_end(const Cursor& cursor) const {
    if (!options_.epochs) return rows_batch_size(cursor.row);
    return (*options_.epochs - cursor.epoch) * epoch_samples_ - cursor.position;
  }

  void refuse_larger_than_epoch(std::uint64_t row) const {
    if (fits(row, 0)) return;
    throw ContentError(trace_.where(std::min(row, trace_.rows() - 1)) + ": found batch size " +
                       std::to_string(rows_batch_size(row)) + ", expected at most the " +
                       std::to_string(epoch_samples_) + " samples of an epoch (" +
                       std::to_string(epoch_samples_ / options_.minibatch) + " minibatches of " +
                       std::to_string(options_.minibatch) +
                       "); use smaller batches, or --epoch-end carry");
  }

  const BatchTrace& trace_;
  const PlanOptions& options_;
  std::uint64_t epoch_samples_;
};

void check(const PlanOptions& options) {
  if (options.samples == 0) throw std::invalid_argument("plan: the data set has no sample");
  if (options.minibatch == 0) {
    throw std::invalid_argument("minibatch: found 0, expected a whole number of at least 1");
  }
  if (options.minibatch > options.samples) {
    throw std::invalid_argument("minibatch: found " + std::to_string(options.minibatch) +
                                ", expected at most the " + std::to_string(options.samples) +
                                " samples of the data set");
  }
  if (options.epochs == std::uint64_t{0}) {
    throw std::invalid_argument("epochs: found 0, expected a whole number of at least 1");
  }
  std::uint64_t all_samples = 0;
  if (options.epochs && __builtin_mul_overflow(*options.epochs, options.samples, &all_samples)) {
    throw std::invalid_argument("epochs: found " + std::to_string(*options.epochs) +
                                ", with which the samples of a run exceed 64 bits");
  }
  if (options.updates == std::uint64_t{0}) {
    throw std::invalid_argument("updates: found 0, expected a whole number of at least 1");
  }
}

std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

constexpr const char* too_short_advice =
    "; make the trace longer, or use --trace-end repeat-last or stop";

// How far a finite trace came: complete epochs, and the samples used in the next one.
struct Reach {
  std::uint64_t epochs = 0;
  std::uint64_t samples = 0;
};

Reach reach_of(const Step& last, const Walk& walk) {
  const std::uint64_t used = last.begin.position + last.batch_size;
  const bool is_cut_off =
      walk.is_drop() && !walk.has_row(last.end.row) && walk.fits(last.begin.row, used);
  if (is_cut_off) return {last.begin.epoch, used};
  return {last.end.epoch, last.end.position};
}

void refuse_missing_updates(const BatchTrace& trace, std::uint64_t missing) {
  throw ContentError(trace.where(trace.rows() - 1) + ": the trace ends here, " +
                     plural(missing, "update") + " before the end of the run" + too_short_advice +
                     ", or ask for fewer updates");
}

void refuse_missing_epochs(const BatchTrace& trace, std::uint64_t epochs, const Reach& reach,
                           std::uint64_t epoch_samples) {
  const std::uint64_t missing = (epochs - reach.epochs) * epoch_samples - reach.samples;
  const std::uint64_t row = trace.rows() - 1;
  throw ContentError(trace.where(row) + ": the trace ends here, in epoch " +
                     std::to_string(reach.epochs + 1) + " of " + std::to_string(epochs) + "; " +
                     plural(missing, "sample") + " more are to be used, about " +
                     plural(pieces(missing, trace.batch_size(row)), "row") + " like the last one" +
                     too_short_advice + ", or ask for fewer epochs");
}

void refuse_early_end(const BatchTrace& trace, const PlanOptions& options, const Step& last,
                      const Walk& walk, std::uint64_t epoch_samples) {
  if (options.trace_end != TraceEnd::error || trace.is_endless()) return;
  if (options.updates && last.end.update >= *options.updates) return;
  if (options.epochs) {
    const Reach reach = reach_of(last, walk);
    if (reach.epochs < *options.epochs) {
      refuse_missing_epochs(trace, *options.epochs, reach, epoch_samples);
    }
  } else if (options.updates) {
    refuse_missing_updates(trace, *options.updates - last.end.update);
  }
}

}  // namespace

TraceEnd trace_end(const std::string& name) {
  if (name == "error") return TraceEnd::error;
  if (name == "repeat-last") return TraceEnd::repeat_last;
  if (name == "stop") return TraceEnd::stop;
  throw std::invalid_argument("trace-end: found \"" + name +
                              "\", expected error, repeat-last or stop");
}

EpochEnd epoch_end(const std::string& name) {
  if (name == "drop") return EpochEnd::drop;
  if (name == "carry") return EpochEnd::carry;
  throw std::invalid_argument("epoch-end: found \"" + name + "\", expected drop or carry");
}

std::string to_string(TraceEnd end) {
  if (end == TraceEnd::error) return "error";
  return end == TraceEnd::stop ? "stop" : "repeat-last";
}

std::string to_string(EpochEnd end) { return end == EpochEnd::drop ? "drop" : "carry"; }

std::uint64_t TracePlan::minibatches_per_epoch() const noexcept {
  return options_.samples / options_.minibatch;
}

std::uint64_t TracePlan::epoch_samples() const noexcept {
  return options_.epoch_end == EpochEnd::drop ? minibatches_per_epoch() * options_.minibatch
                                              : options_.samples;
}

TracePlan::TracePlan(BatchTrace trace, PlanOptions options)
    : trace_(std::move(trace)), options_(options) {
  check(options_);
  const Walk walk(trace_, options_, epoch_samples());
  const bool has_end = options_.epochs || options_.updates || !walk.is_endless();
  Cursor cursor;
  Step last;
  while (!walk.is_run_over(cursor) && (has_end || cursor.row < trace_.rows())) {
    last = walk.advance(cursor);
    cursor = last.end;
    most_minibatches_ = std::max(most_minibatches_, last.minibatch_count);
  }
  if (has_end) {
    total_updates_ = cursor.update;
    total_samples_ = cursor.samples;
    refuse_early_end(trace_, options_, last, walk, epoch_samples());
  } else if (!walk.is_drop()) {  // where a row will stand is open: at most one short minibatch a
                                 // part
    const std::uint64_t most_parts = (trace_.largest() - 1) / options_.samples + 2;
    most_minibatches_ = trace_.largest() / options_.minibatch + most_parts;
  }
}

bool TracePlan::passes(const Cursor& cursor) const {
  const Walk walk(trace_, options_, epoch_samples());
  Cursor place;
  while (place.update < cursor.update && !walk.is_run_over(place)) place = walk.advance(place).end;
  return place == cursor;
}

std::optional<PlannedUpdate> TracePlan::next(const Cursor& cursor) const {
  if (cursor.position >= epoch_samples()) {
    throw std::invalid_argument("plan: found a cursor at position " +
                                std::to_string(cursor.position) + ", expected less than the " +
                                std::to_string(epoch_samples()) + " samples of an epoch");
  }
  const Walk walk(trace_, options_, epoch_samples());
  if (walk.is_run_over(cursor)) return std::nullopt;
  const Step step = walk.advance(cursor);
  if (walk.is_run_over(step.begin)) return std::nullopt;  // a cursor of another trace may stand so
  PlannedUpdate update{step.begin, step.end, step.batch_size, {}, step.ends_epoch};
  update.minibatches.reserve(step.minibatch_count);
  for_each_part(step.begin, step.batch_size, epoch_samples(),
                [&](std::uint64_t epoch, std::uint64_t begin, std::uint64_t size) {
                  std::uint64_t index = epoch == step.begin.epoch ? step.begin.minibatch : 0;
                  for (std::uint64_t done = 0; done < size; done += options_.minibatch) {
                    update.minibatches.push_back(
                        {epoch, index++, begin + done, std::min(options_.minibatch, size - done)});
                  }
                });
  return update;
}

}  // namespace rubato::data
