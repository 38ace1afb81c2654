// This rank's minibatches of one batch after the other, read ahead. Of a loader that hands them to
// its program; a train step asks for its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/prefetcher.hpp"
#include "data/trace_plan.hpp"

namespace rubato::runtime {

// Minibatch i of an epoch is rank i mod R's: where no batch waits for the one before, all ranks
// have something to do, however few minibatches a batch has.
std::vector<data::Minibatch> share_of(const data::PlannedUpdate& update, std::size_t rank,
                                      std::size_t ranks);

class MinibatchQueue {
 public:
  MinibatchQueue(std::shared_ptr<const data::Dataset> dataset, data::OrderKind order,
                 std::uint64_t seed, std::uint64_t largest_minibatch, std::size_t rank,
                 std::size_t ranks);

  // From the first of the batch's minibatches on. Meanwhile those of `upcoming` are read, if there
  // is one.
  void begin(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming);
  // The next one, valid until the next call; nothing behind the last.
  std::optional<data::LoadedMinibatch> next();

 private:
  data::Prefetcher prefetcher_;
  std::size_t rank_;
  std::size_t ranks_;
  std::size_t left_ = 0;                    // of the batch begun
  std::optional<data::Cursor> prefetched_;  // where the batch begins that was read ahead
};

}  // namespace rubato::runtime
