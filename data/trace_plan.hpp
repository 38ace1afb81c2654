// Which samples each update uses: the trace cut into epochs, each update cut into minibatches. No
// rank occurs in it.
//
// An update owns a contiguous range of its epoch's order, cut into minibatches from its start; the
// last one may be short. Minibatches are numbered in sequence within their epoch and none spans two
// epochs.
//
//   drop   (the reference) an epoch has floor(N/b)*b samples to give; an update that does not fit
//   any more waits for the next
//          epoch, what is left of this one is skipped. An update larger than an epoch is refused.
//   carry  an epoch gives all N samples; an update goes on into the next epoch's order, any number
//   of epochs long. Where the run ends
//          with an epoch (--epochs), its last update is cut there: every epoch uses every sample
//          exactly once.
//   cut    an epoch gives all N samples; the update that reaches its end is cut short there.
//
// A trace whose rows have minibatches of their own has no whole minibatches to count an epoch in:
// under drop, too, an epoch then has all N samples to give. (Where batches are whole minibatches of
// one size, that comes to the same updates.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/batch_trace.hpp"

namespace rubato::data {

enum class TraceEnd { error, repeat_last, stop };
enum class EpochEnd { drop, carry, cut };
TraceEnd trace_end(const std::string& name);  // throw std::invalid_argument, naming the valid words
EpochEnd epoch_end(const std::string& name);
std::string to_string(TraceEnd);
std::string to_string(EpochEnd);

struct Minibatch {
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;  // within its epoch
  std::uint64_t begin = 0;  // first position in the epoch's order
  std::uint64_t size = 0;   // samples
  bool operator==(const Minibatch&) const = default;
};

// Where the next update begins. Rank-free, and all of the position that a checkpoint needs.
struct Cursor {
  std::uint64_t update = 0;  // updates done
  std::uint64_t row = 0;     // next row of the trace, as if each update had one
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;   // samples of the epoch's order used so far
  std::uint64_t minibatch = 0;  // number of the next minibatch in this epoch
  std::uint64_t samples = 0;    // samples used by all updates so far
  bool operator==(const Cursor&) const = default;
};

struct PlannedUpdate {
  Cursor begin;  // where this update begins (its epoch is the one it begins in)
  Cursor end;    // where the next one begins. Under drop the epoch advances as soon as the next row
                 // does not fit
  std::uint64_t batch_size = 0;        // samples of this update
  std::uint64_t minibatch = 0;         // samples of its minibatches that are not short
  std::vector<Minibatch> minibatches;  // in order; at least one
  bool ends_epoch = false;  // an epoch is complete after this update (its last one under drop)
};

struct PlanOptions {
  std::uint64_t samples = 0;    // N
  std::uint64_t minibatch = 0;  // b, where the trace's rows have none of their own
  TraceEnd trace_end = TraceEnd::error;
  EpochEnd epoch_end = EpochEnd::drop;
  std::optional<std::uint64_t> epochs = {};   // end after so many epochs
  std::optional<std::uint64_t> updates = {};  // end after so many updates
  // Neither: to the end of the trace. An endless trace, also under repeat_last, then needs another
  // end: the caller's.
};

class TracePlan {
 public:
  // Walks the whole plan once, so that a trace that cannot serve is refused before training: throws
  // ContentError naming row and cause (trace ends early, row larger than an epoch, or in another
  // epoch than it says), or std::invalid_argument (minibatch larger than the data set, 0).
  TracePlan(BatchTrace trace, PlanOptions options);

  // The update that begins at `cursor`, or nothing if the run ends there.
  std::optional<PlannedUpdate> next(const Cursor& cursor) const;

  // Where a cursor that another plan has left stands in this one: under drop in the next epoch, if
  // the row that comes next is larger than what is left of its own.
  Cursor settled(const Cursor& cursor) const;

  // Whether an update of this plan ends here, or it begins here: false for a cursor of a plan that
  // another end has cut otherwise. Takes a few nanoseconds for each update before it.
  bool passes(const Cursor& cursor) const;

  // Totals of the whole run, where its end is known.
  std::optional<std::uint64_t> total_updates() const noexcept { return total_updates_; }
  std::optional<std::uint64_t> total_samples() const noexcept { return total_samples_; }
  std::uint64_t minibatches_per_epoch() const noexcept;  // floor(N/b), as the reference counts
  // floor(N/b)*b under drop, N under carry and cut or where rows have minibatches of their own.
  std::uint64_t epoch_samples() const noexcept;
  // Of any one update; an upper bound where the run has no known end.
  std::uint64_t most_minibatches() const noexcept { return most_minibatches_; }
  std::uint64_t largest_minibatch() const noexcept;  // samples; no minibatch has more

  const BatchTrace& trace() const noexcept { return trace_; }
  const PlanOptions& options() const noexcept { return options_; }

 private:
  std::uint64_t minibatch_of(std::uint64_t row) const;

  BatchTrace trace_;
  PlanOptions options_;
  std::optional<std::uint64_t> total_updates_;
  std::optional<std::uint64_t> total_samples_;
  std::uint64_t most_minibatches_ = 0;
};

}  // namespace rubato::data
