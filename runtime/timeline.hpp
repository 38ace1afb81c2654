// What this rank did when: the phases that it enters (heartbeat.hpp), in memory set aside before
// the run. Entering one costs a store into it, no allocation and no output.
//
// The memory is a ring: of a long run the last phases stay.
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

class Timeline {
 public:
  explicit Timeline(std::size_t capacity) : ring_(capacity) {}  // at least 1

  // Entering where it is already changes nothing.
  void enter(std::int64_t nanoseconds, std::uint64_t update, Phase phase) noexcept {
    if (entered_ > 0 && last_.update == update && last_.phase == phase) return;
    last_ = {nanoseconds, update, phase};
    ring_[entered_++ % ring_.size()] = last_;
  }

  std::vector<TimelineEntry> entries() const;  // in order
  bool is_complete() const noexcept { return entered_ <= ring_.size(); }

 private:
  std::vector<TimelineEntry> ring_;
  std::uint64_t entered_ = 0;
  TimelineEntry last_;
};

}  // namespace rubato::runtime
