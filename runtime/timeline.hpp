// What this rank did when: the phases that it enters (heartbeat.hpp), and its sums over the
// network, which go on beside them, in memory set aside before the run. Entering one costs a store
// into it, no allocation and no output.
//
// The memory is two rings: of a long run the last phases stay, and their sums.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/heartbeat.hpp"

namespace rubato::runtime {

inline std::int64_t nanoseconds(std::chrono::steady_clock::time_point time) noexcept {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

// It ends when the next one begins.
struct TimelineEntry {
  std::int64_t begin = 0;  // nanoseconds of this host's steady clock
  std::uint64_t update = 0;
  Phase phase = Phase::starting;
  bool operator==(const TimelineEntry&) const = default;
};

// From the first message of an update's sum to the last.
struct TimelineTransfer {
  std::int64_t begin = 0;  // nanoseconds, as above
  std::int64_t end = 0;
  std::uint64_t update = 0;
  bool operator==(const TimelineTransfer&) const = default;
};

template <class T>
class TimelineRing {
 public:
  explicit TimelineRing(std::size_t capacity) : ring_(capacity) {}  // at least 1

  void add(const T& entry) noexcept { ring_[added_++ % ring_.size()] = entry; }
  bool is_empty() const noexcept { return added_ == 0; }
  T& last() noexcept { return ring_[(added_ - 1) % ring_.size()]; }
  std::vector<T> all() const;  // in order
  bool is_complete() const noexcept { return added_ <= ring_.size(); }

 private:
  std::vector<T> ring_;
  std::uint64_t added_ = 0;
};

class Timeline {
 public:
  // At least 1 phase. A sum is in an update of several.
  explicit Timeline(std::size_t capacity) : phases_(capacity), transfers_(capacity) {}

  // Entering where it is already changes nothing, but a sum after a sum is another one.
  void enter(std::int64_t nanoseconds, std::uint64_t update, Phase phase) noexcept {
    if (!phases_.is_empty()) {
      const TimelineEntry& last = phases_.last();
      const bool is_there = last.update == update && last.phase == phase;
      if (is_there && phase != Phase::summing) return;
    }
    phases_.add({nanoseconds, update, phase});
  }
  // So far the phase entered last was waiting.
  void waited_until(std::int64_t nanoseconds) noexcept {
    TimelineEntry& last = phases_.last();
    const TimelineEntry rest{nanoseconds, last.update, last.phase};
    last.phase = Phase::waiting;
    phases_.add(rest);
  }
  void transferred(const TimelineTransfer& transfer) noexcept { transfers_.add(transfer); }

  std::vector<TimelineEntry> entries() const { return phases_.all(); }
  std::vector<TimelineTransfer> transfers() const { return transfers_.all(); }
  bool is_complete() const noexcept { return phases_.is_complete(); }

 private:
  TimelineRing<TimelineEntry> phases_;
  TimelineRing<TimelineTransfer> transfers_;
};

}  // namespace rubato::runtime
