// See work_share.hpp.
#include "runtime/work_share.hpp"

#include <algorithm>
#include <utility>

namespace rubato::runtime {

WorkShare::WorkShare(data::Assignment assignment, std::size_t rank, std::size_t ranks)
    : assignment_(assignment), rank_(rank), ranks_(ranks), speeds_(ranks) {}

WorkShare::Minibatches WorkShare::of(const data::PlannedUpdate& update) {
  const std::size_t minibatches = update.minibatches.size();
  if (assignment_ != data::Assignment::balanced || !speeds_.are_known()) {
    return from_owners(data::owners_of(assignment_, ranks_, minibatches));
  }
  std::vector<double> work;
  for (const data::Minibatch& minibatch : update.minibatches) {
    work.push_back(static_cast<double>(minibatch.size) / static_cast<double>(update.minibatch));
  }
  return from_owners(speeds_.assign(work));
}

WorkShare::Minibatches WorkShare::from_owners(std::vector<std::size_t> owners) const {
  Minibatches mine;
  std::vector<std::size_t> counts(ranks_);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == rank_) mine.slots.push_back(i);
    mine.most = std::max(mine.most, ++counts[owners[i]]);
  }
  mine.owners = std::move(owners);
  return mine;
}

void WorkShare::learn(std::span<const RankTime> times, std::uint64_t minibatch) {
  if (assignment_ == data::Assignment::balanced) speeds_.learn(times, minibatch);
}

}  // namespace rubato::runtime
