// What every rank of a node is doing, in memory that all of them see: for the watchdog.
//
// A beat costs some tens of nanoseconds: a clock and a few relaxed stores into a cache line that
// others read a few times a second. Nothing is ordered by it; a reader may see the update of one
// beat with the count of the next, and looks again soon.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collectives/node_memory.hpp"
#include "collectives/slice_reducer.hpp"
#include "collectives/topology.hpp"

namespace rubato::runtime {

// In the order in which an update goes through them: who is in an earlier one is behind.
enum class Phase : std::uint8_t {
  starting,
  loading_data,
  computing,  // one beat for each minibatch
  accumulating,
  summing,  // to the watchdog from the wait for others on; in timelines what comes after it
  updating,
  waiting,  // for ranks of this node
  reporting,
  evaluating,
  writing_checkpoint,
  ending
};

std::string name_of(Phase phase);  // "summing over ranks"

// Whether a rank may be in it because of others.
constexpr bool waits_for_others(Phase phase) {
  return phase == Phase::summing || phase == Phase::waiting;
}

// One look at one rank.
struct Pulse {
  std::uint64_t beats = 0;
  std::uint64_t update = 0;
  Phase phase = Phase::starting;
  std::uint64_t watch_ticks = 0;  // of its watchdog
  std::uint64_t minibatches = 0;  // computed so far
  double computing_seconds = 0;   // on them
};

class Timeline;

class Heartbeat {
 public:
  explicit Heartbeat(const collectives::Topology& topology);  // collective over all ranks

  // This rank is now in this phase of this update. Called again in a long phase, it says that the
  // rank moves.
  void beat(std::uint64_t update, Phase phase) noexcept;
  // Keeps the phases as they are entered, from this one on; nullptr: no more. It must outlive that.
  void record_into(Timeline* timeline) noexcept;
  // For them: when what happened in the sum that this rank is in.
  void summed(const collectives::SumTimes& times) noexcept;
  void tick() noexcept;  // this rank's watchdog lives; from its thread

  std::size_t ranks() const noexcept { return ranks_; }          // of this node
  std::size_t node_rank() const noexcept { return node_rank_; }  // this one
  Pulse pulse(std::size_t node_rank) const;
  std::size_t rank(std::size_t node_rank) const;  // in the whole job
  pid_t pid(std::size_t node_rank) const;

 private:
  struct Slot;
  Slot& slot(std::size_t node_rank) const;

  collectives::NodeMemory memory_;
  std::size_t ranks_;
  std::size_t node_rank_;
  Slot* mine_;
  Timeline* timeline_ = nullptr;
  std::uint64_t update_ = 0;
  Phase phase_ = Phase::starting;
  std::chrono::steady_clock::time_point phase_begin_;
};

}  // namespace rubato::runtime
