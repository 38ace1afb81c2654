#include "collectives/progress_marks.hpp"

#include <atomic>

namespace rubato::collectives {
namespace {

struct Mark {
  alignas(64) std::atomic<std::uint64_t> reached;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace

ProgressMarks::ProgressMarks(const Topology& topology, std::size_t steps)
    : memory_(topology, sizeof(Mark)),
      rank_(topology.node().rank()),
      ranks_(topology.node().size()),
      steps_(steps) {}

void ProgressMarks::begin_round() { ++round_; }

void ProgressMarks::reach(std::size_t step) {
  if (mark_of(step) <= mine_) return;
  mine_ = mark_of(step);
  // An exchange, because unlike a plain store it also waits for stores past the cache.
  memory_.region_as<Mark>(rank_)[0].reached.exchange(mine_, std::memory_order_acq_rel);
}

bool ProgressMarks::have_all_reached(std::size_t step) const {
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const Mark& mark = memory_.region_as<Mark>(rank)[0];
    if (mark.reached.load(std::memory_order_acquire) < mark_of(step)) return false;
  }
  return true;
}

}  // namespace rubato::collectives
