// See trace_plan.hpp. What an update does to the cursor is in trace_walk.cpp.
#include "data/trace_plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "data/errors.hpp"
#include "data/trace_walk.hpp"

namespace rubato::data {
namespace {

using Step = TraceWalk::Step;

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

Reach reach_of(const Step& last, const TraceWalk& walk) {
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
                      const TraceWalk& walk, std::uint64_t epoch_samples) {
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
  if (name == "cut") return EpochEnd::cut;
  throw std::invalid_argument("epoch-end: found \"" + name + "\", expected drop, carry or cut");
}

std::string to_string(TraceEnd end) {
  if (end == TraceEnd::error) return "error";
  return end == TraceEnd::stop ? "stop" : "repeat-last";
}

std::string to_string(EpochEnd end) {
  if (end == EpochEnd::cut) return "cut";
  return end == EpochEnd::drop ? "drop" : "carry";
}

std::uint64_t TracePlan::minibatches_per_epoch() const noexcept {
  return options_.samples / options_.minibatch;
}

std::uint64_t TracePlan::epoch_samples() const noexcept {
  const bool is_cut = options_.epoch_end == EpochEnd::drop && !trace_.has_minibatches();
  return is_cut ? minibatches_per_epoch() * options_.minibatch : options_.samples;
}

TracePlan::TracePlan(BatchTrace trace, PlanOptions options)
    : trace_(std::move(trace)), options_(options) {
  check(options_);
  const TraceWalk walk(trace_, options_, epoch_samples());
  const bool has_end = options_.epochs || options_.updates || !walk.is_endless();
  Cursor cursor;
  Step last;
  while (!walk.is_run_over(cursor) && (has_end || cursor.row < trace_.updates_told())) {
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
    for (std::uint64_t row = 0; row < trace_.rows(); ++row) {
      const std::uint64_t most_parts = (trace_.batch_size(row) - 1) / options_.samples + 2;
      const std::uint64_t whole = trace_.batch_size(row) / minibatch_of(row);
      most_minibatches_ = std::max(most_minibatches_, whole + most_parts);
    }
  }
}

std::uint64_t TracePlan::minibatch_of(std::uint64_t row) const {
  return trace_.has_minibatches() ? trace_.row(row).minibatch : options_.minibatch;
}

std::uint64_t TracePlan::largest_minibatch() const noexcept {
  if (!trace_.has_minibatches()) return options_.minibatch;
  std::uint64_t largest = 1;
  for (std::uint64_t row = 0; row < trace_.rows(); ++row) {
    largest = std::max(largest, std::min(trace_.batch_size(row), minibatch_of(row)));
  }
  return std::min(largest, options_.samples);
}

Cursor TracePlan::settled(const Cursor& cursor) const {
  return TraceWalk(trace_, options_, epoch_samples()).settled(cursor);
}

bool TracePlan::passes(const Cursor& cursor) const {
  const TraceWalk walk(trace_, options_, epoch_samples());
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
  const TraceWalk walk(trace_, options_, epoch_samples());
  if (walk.is_run_over(cursor)) return std::nullopt;
  const Step step = walk.advance(cursor);
  if (walk.is_run_over(step.begin)) return std::nullopt;  // a cursor of another trace may stand so
  PlannedUpdate update{step.begin, step.end, step.batch_size, step.minibatch, {}, step.ends_epoch};
  update.minibatches.reserve(step.minibatch_count);
  for_each_part(step.begin, step.batch_size, epoch_samples(),
                [&](std::uint64_t epoch, std::uint64_t begin, std::uint64_t size) {
                  std::uint64_t index = epoch == step.begin.epoch ? step.begin.minibatch : 0;
                  for (std::uint64_t done = 0; done < size; done += step.minibatch) {
                    update.minibatches.push_back(
                        {epoch, index++, begin + done, std::min(step.minibatch, size - done)});
                  }
                });
  return update;
}

}  // namespace rubato::data
