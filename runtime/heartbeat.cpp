// Only its rank writes to a slot, so counts need no atomic addition.
#include "runtime/heartbeat.hpp"

#include <unistd.h>

#include <array>
#include <atomic>

#include "runtime/timeline.hpp"

namespace rubato::runtime {

namespace {

using Count = std::atomic<std::uint64_t>;
static_assert(Count::is_always_lock_free);

constexpr std::array<const char*, 11> phase_names{"starting",
                                                  "loading data",
                                                  "computing",
                                                  "adding up gradients",
                                                  "summing over ranks",
                                                  "updating weights",
                                                  "waiting for other ranks",
                                                  "reporting",
                                                  "evaluating",
                                                  "writing a checkpoint",
                                                  "ending"};

void increase(Count& count, std::uint64_t by) noexcept {
  count.store(count.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

std::uint64_t value(const Count& count) noexcept { return count.load(std::memory_order_relaxed); }

}  // namespace

// Zero bytes are its initial state. The watchdog's count is on a line of its own: another thread
// writes it.
struct alignas(64) Heartbeat::Slot {
  Count beats;
  Count position;  // update and phase
  Count minibatches;
  Count computing_nanoseconds;
  Count rank;
  Count pid;
  alignas(64) Count watch_ticks;
};

std::string name_of(Phase phase) { return phase_names.at(static_cast<std::size_t>(phase)); }

Heartbeat::Heartbeat(const collectives::Topology& topology)
    : memory_(topology, sizeof(Slot)),
      ranks_(topology.node().size()),
      node_rank_(topology.node().rank()),
      mine_(&slot(node_rank_)),
      phase_begin_(std::chrono::steady_clock::now()) {
  mine_->rank.store(topology.all().rank(), std::memory_order_relaxed);
  mine_->pid.store(static_cast<std::uint64_t>(::getpid()), std::memory_order_relaxed);
  beat(0, Phase::starting);
  topology.node().barrier();  // who looks finds every rank's number
}

void Heartbeat::beat(std::uint64_t update, Phase phase) noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (phase_ == Phase::computing) {
    const std::chrono::nanoseconds spent = now - phase_begin_;
    increase(mine_->computing_nanoseconds, static_cast<std::uint64_t>(spent.count()));
    increase(mine_->minibatches, 1);
  }
  update_ = update;
  phase_ = phase;
  phase_begin_ = now;
  if (timeline_ != nullptr) timeline_->enter(nanoseconds(now), update, phase);
  mine_->position.store(update << 8U | static_cast<std::uint64_t>(phase),
                        std::memory_order_relaxed);
  increase(mine_->beats, 1);
}

void Heartbeat::record_into(Timeline* timeline) noexcept {
  timeline_ = timeline;
  if (timeline_ == nullptr) return;
  timeline_->enter(nanoseconds(std::chrono::steady_clock::now()), update_, phase_);
}

void Heartbeat::summed(const collectives::SumTimes& times) noexcept {
  if (timeline_ == nullptr) return;
  timeline_->waited_until(times.all_are_in);
  if (times.network_begin == 0) return;
  timeline_->transferred({times.network_begin, times.network_end, update_});
}

void Heartbeat::tick() noexcept { increase(mine_->watch_ticks, 1); }

Pulse Heartbeat::pulse(std::size_t node_rank) const {
  const Slot& seen = slot(node_rank);
  const std::uint64_t position = value(seen.position);
  return {.beats = value(seen.beats),
          .update = position >> 8U,
          .phase = static_cast<Phase>(position & 0xffU),
          .watch_ticks = value(seen.watch_ticks),
          .minibatches = value(seen.minibatches),
          .computing_seconds = 1e-9 * static_cast<double>(value(seen.computing_nanoseconds))};
}

std::size_t Heartbeat::rank(std::size_t node_rank) const { return value(slot(node_rank).rank); }

pid_t Heartbeat::pid(std::size_t node_rank) const {
  return static_cast<pid_t>(value(slot(node_rank).pid));
}

Heartbeat::Slot& Heartbeat::slot(std::size_t node_rank) const {
  return memory_.region_as<Slot>(node_rank)[0];
}

}  // namespace rubato::runtime
