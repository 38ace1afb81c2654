// Ranks count themselves in; the last one resets the count and turns the shared sense, which
// releases the others. Each rank turns its own sense at every barrier, so that a fast rank that is
// already at the next barrier does not run through it.
#include "collectives/node_barrier.hpp"

#include <atomic>
#include <cstdint>

namespace rubato::collectives {
namespace {

struct SharedState {
  alignas(64) std::atomic<std::uint32_t> arrived;
  alignas(64) std::atomic<bool> sense;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

Patience waiting_patience(const Topology& topology) {
  Patience patience;
  if (topology.is_oversubscribed()) {
    patience.spins = 0;
    patience.yields = std::chrono::microseconds{1'000};
  }
  patience.helps_mpi = topology.node_count() > 1;
  return patience;
}

NodeBarrier::NodeBarrier(const Topology& topology)
    : memory_(topology, topology.node().rank() == 0 ? sizeof(SharedState) : 0),
      ranks_(topology.node().size()),
      patience_(waiting_patience(topology)) {}

void NodeBarrier::wait() {
  SharedState& shared = memory_.region_as<SharedState>(0)[0];  // zero bytes are its initial state
  sense_ = !sense_;
  if (shared.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    shared.arrived.store(0, std::memory_order_relaxed);
    shared.sense.store(sense_, std::memory_order_release);
    return;
  }
  wait_until([&] { return shared.sense.load(std::memory_order_acquire) == sense_; }, patience_);
}

}  // namespace rubato::collectives
