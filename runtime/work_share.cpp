// See work_share.hpp.
#include "runtime/work_share.hpp"

namespace rubato::runtime {

WorkShare::WorkShare(data::Assignment assignment, std::size_t rank, std::size_t ranks)
    : assignment_(assignment), rank_(rank), ranks_(ranks), speeds_(ranks) {}

std::vector<std::size_t> WorkShare::of(const data::PlannedUpdate& update) {
  if (assignment_ != data::Assignment::balanced || !speeds_.are_known()) {
    return data::substeps_of(assignment_, rank_, ranks_, update.minibatches.size());
  }
  std::vector<double> work;
  for (const data::Minibatch& minibatch : update.minibatches) {
    work.push_back(static_cast<double>(minibatch.size) / static_cast<double>(update.minibatch));
  }
  const std::vector<std::size_t> owners = speeds_.assign(work);
  std::vector<std::size_t> mine;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == rank_) mine.push_back(i);
  }
  return mine;
}

void WorkShare::learn(std::span<const RankTime> times, std::uint64_t minibatch) {
  if (assignment_ == data::Assignment::balanced) speeds_.learn(times, minibatch);
}

}  // namespace rubato::runtime
