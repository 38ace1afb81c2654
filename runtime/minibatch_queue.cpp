// See minibatch_queue.hpp.
#include "runtime/minibatch_queue.hpp"

#include <utility>

namespace rubato::runtime {

std::vector<data::Minibatch> share_of(const data::PlannedUpdate& update, std::size_t rank,
                                      std::size_t ranks) {
  std::vector<data::Minibatch> mine;
  for (const data::Minibatch& minibatch : update.minibatches) {
    if (minibatch.index % ranks == rank) mine.push_back(minibatch);
  }
  return mine;
}

MinibatchQueue::MinibatchQueue(std::shared_ptr<const data::Dataset> dataset, data::OrderKind order,
                               std::uint64_t seed, std::uint64_t largest_minibatch,
                               std::size_t rank, std::size_t ranks)
    : prefetcher_(std::move(dataset), order, seed, largest_minibatch), rank_(rank), ranks_(ranks) {}

void MinibatchQueue::begin(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming) {
  const std::vector<data::Minibatch> mine = share_of(update, rank_, ranks_);
  const bool is_queued = left_ == 0 && prefetched_ == update.begin;
  prefetched_.reset();
  if (!is_queued) {
    prefetcher_.clear();
    prefetcher_.request(mine);
  }
  left_ = mine.size();
  if (upcoming == nullptr) return;
  prefetcher_.request(share_of(*upcoming, rank_, ranks_));
  prefetched_ = upcoming->begin;
}

std::optional<data::LoadedMinibatch> MinibatchQueue::next() {
  if (left_ == 0) return std::nullopt;
  --left_;
  return prefetcher_.next();
}

}  // namespace rubato::runtime
