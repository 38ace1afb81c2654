// A plan told epoch by epoch and step by step, one at a time, so that a plan of any length needs
// the memory of one update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/substep_plan.hpp"
#include "data/trace_plan.hpp"

namespace rubato::app {

// One update, or the part of it that lies in one epoch.
struct PlanStep {
  std::uint64_t step = 0;                        // its number within the epoch
  std::uint64_t batch_size = 0;                  // of the whole update
  std::uint64_t minibatch = 0;                   // samples of one that is not short
  std::span<const data::Minibatch> minibatches;  // of the part
  std::vector<std::vector<std::uint64_t>>
      ranks;                     // the minibatches of each rank, by their number in the epoch
  bool is_carried_from = false;  // it began in an earlier epoch
  bool carries_on = false;       // it goes on in the next epoch
};

// What became of an epoch. Step i belongs to row trace_begin + i of the trace.
struct EpochTotals {
  std::uint64_t epoch = 0;
  std::uint64_t trace_begin = 0;
  std::uint64_t steps = 0;
  std::uint64_t minibatches_used = 0;
  std::uint64_t minibatches_left_over = 0;  // whole ones for which there would have been samples
  std::uint64_t samples_used = 0;
  std::uint64_t samples_left_over = 0;  // of the training set
  bool is_complete = false;             // false: the run ends within this epoch
};

class PlanVisitor {
 public:
  virtual ~PlanVisitor() = default;
  virtual void begin_epoch(std::uint64_t epoch, std::uint64_t trace_begin) = 0;
  virtual void visit(const PlanStep& step) = 0;
  virtual void end_epoch(const EpochTotals& totals) = 0;
};

// Precondition: the plan has an end.
void walk(const data::TracePlan& plan, data::Assignment assignment, std::size_t ranks,
          PlanVisitor& visitor);

}  // namespace rubato::app
