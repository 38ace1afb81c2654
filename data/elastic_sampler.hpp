// One rank's view of a trace: epoch by epoch, the substeps that it runs and the samples in them.
//
// The C++ form of the reference's batch sampler: construct with data set size, trace, ranks, rank
// and minibatch size; call set_epoch(); iterate. An update of which this rank runs no minibatch
// still appears, as a substep without samples, because the rank takes part in the update's
// reduction. (Reference: an idle rank is fed sample 0 over and over. Ours computes nothing.)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/epoch_order.hpp"
#include "data/substep_plan.hpp"
#include "data/trace_plan.hpp"

namespace rubato::data {

struct Substep {
  std::uint64_t update = 0;            // which update it belongs to
  std::size_t slot = 0;                // which of the update's minibatches it is; 0 if idle
  bool is_idle = false;                // no samples: this rank only takes part in the reduction
  Minibatch minibatch;                 // where in the epoch's order
  std::vector<std::uint64_t> samples;  // sample indices
};

class ElasticSampler {
 public:
  struct Options {
    std::size_t ranks = 1;
    std::size_t rank = 0;
    std::uint64_t seed = 42;
    OrderKind order = OrderKind::torch;
    Assignment assignment = Assignment::strided;
  };
  // Selects epoch 0. Throws std::invalid_argument if the plan has no end.
  ElasticSampler(TracePlan plan, Options options);

  // Epochs up to the last one in which an update begins.
  std::uint64_t epochs() const noexcept { return epoch_begins_.size(); }
  // Selects an epoch: the updates that begin in it. Throws std::out_of_range beyond epochs().
  void set_epoch(std::uint64_t epoch);

  // Samples of the selected epoch that an update of an earlier one has used (under carry).
  std::uint64_t position() const noexcept { return position_; }
  // For the selected epoch, one entry per update:
  const std::vector<std::uint64_t>& batch_sizes() const noexcept { return batch_sizes_; }
  const std::vector<std::size_t>& minibatch_counts() const noexcept {
    return minibatch_counts_;
  }  // over all ranks
  // Substeps of this rank; an update in which it is idle counts 1, for it takes part in the
  // reduction.
  const std::vector<std::size_t>& substep_counts() const noexcept { return substep_counts_; }
  // All substeps of this rank in the selected epoch, in the order of execution.
  const std::vector<Substep>& substeps() const noexcept { return substeps_; }
  auto begin() const { return substeps_.begin(); }
  auto end() const { return substeps_.end(); }

 private:
  TracePlan plan_;
  Options options_;
  std::vector<Cursor> epoch_begins_;  // the first update that begins in the epoch or later
  std::uint64_t position_ = 0;
  std::vector<std::uint64_t> batch_sizes_;
  std::vector<std::size_t> minibatch_counts_;
  std::vector<std::size_t> substep_counts_;
  std::vector<Substep> substeps_;
};

}  // namespace rubato::data
