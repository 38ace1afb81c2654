// See work_share.hpp.
#include "runtime/work_share.hpp"

#include <algorithm>

namespace rubato::runtime {

WorkShare::WorkShare(data::Assignment assignment, std::size_t rank, std::size_t ranks)
    : assignment_(assignment), rank_(rank), ranks_(ranks), speeds_(ranks) {}

WorkShare::Minibatches WorkShare::of(const data::PlannedUpdate& update, Owners owners) {
  const std::size_t minibatches = update.minibatches.size();
  if (assignment_ != data::Assignment::balanced || !speeds_.are_known()) {
    Minibatches mine{.slots = data::substeps_of(assignment_, rank_, ranks_, minibatches),
                     .most = (minibatches + ranks_ - 1) / ranks_};
    if (owners == Owners::told) mine.owners = data::owners_of(assignment_, ranks_, minibatches);
    return mine;
  }
  std::vector<double> work;
  for (const data::Minibatch& minibatch : update.minibatches) {
    work.push_back(static_cast<double>(minibatch.size) / static_cast<double>(update.minibatch));
  }
  Minibatches mine{.owners = speeds_.assign(work)};
  std::vector<std::size_t> counts(ranks_);
  for (std::size_t i = 0; i < minibatches; ++i) {
    if (mine.owners[i] == rank_) mine.slots.push_back(i);
    mine.most = std::max(mine.most, ++counts[mine.owners[i]]);
  }
  return mine;
}

void WorkShare::learn(std::span<const RankTime> times, std::uint64_t minibatch) {
  if (assignment_ == data::Assignment::balanced) speeds_.learn(times, minibatch);
}

}  // namespace rubato::runtime
