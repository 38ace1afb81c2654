// What an Accumulator has taken in and shown, and what of it a checkpoint keeps.
//
// Additions are told apart by where in the program they were made (job_progress.hpp). Those made in
// a loop are not made again by a job that goes on, so checkpoints keep them. Those made in an epoch
// but outside of loops are made again until the epoch is over; those made outside of epochs,
// always: a checkpoint keeps them only once a synchronized() has shown them, which shows the same
// again, and discards what was added again before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/communicator.hpp"
#include "runtime/job_record.hpp"

namespace rubato::runtime {

class AccumulatorState {
 public:
  // `record` as it stands, or of a checkpoint.
  explicit AccumulatorState(AccumulatorRecord record) : record_(std::move(record)) {}

  // Of this rank; where additions made at this level go.
  NamedSums& pending(Level level) { return pending_[index(level)]; }

  // Collective. What the ranks together have added so far; or, where a program runs again, what was
  // shown at this place before.
  NamedSums synchronize(const collectives::Communicator& communicator, Level level);
  // `sums` take the place of what the last synchronize(), at this level, has returned. (Not where
  // that was shown before: then they have taken it already.)
  void replace(const NamedSums& sums, Level level);

  void end_epoch();
  // What a checkpoint is to keep, once the ranks' additions up to a level have been summed:
  // pending(level) then holds none.
  void settle(Level level);
  const AccumulatorRecord& record() const noexcept { return record_; }

 private:
  static std::size_t index(Level level) { return static_cast<std::size_t>(level); }
  NamedSums& summed(Level level) { return summed_[index(level)]; }
  NamedSums above(Level level) const;

  AccumulatorRecord record_;
  std::array<NamedSums, 3> pending_;  // of this rank, by level
  std::array<NamedSums, 3> summed_;   // of all ranks, by level; those of loops are in the record
  std::size_t shows_outside_ = 0;     // in this process
  std::size_t shows_in_epoch_ = 0;
  bool shows_again_ = false;  // what a process before this one has shown
};

// Those of a job.
class AccumulatorStates {
 public:
  AccumulatorStates() = default;
  explicit AccumulatorStates(std::vector<AccumulatorRecord> records)
      : records_(std::move(records)) {}

  // The next one that the program makes; throws std::logic_error in a loop.
  std::shared_ptr<AccumulatorState> make(const JobProgress& progress);
  void end_epoch();  // the one under way

  // Collective. For a checkpoint: additions up to this level are to be kept.
  void settle(const collectives::Communicator& communicator, Level level);
  std::vector<AccumulatorRecord> records() const;

 private:
  std::vector<AccumulatorRecord> records_;  // of a checkpoint, not made again yet
  std::vector<std::shared_ptr<AccumulatorState>> states_;
  std::uint64_t made_outside_ = 0;
  std::uint64_t made_in_epoch_ = 0;
};

}  // namespace rubato::runtime
