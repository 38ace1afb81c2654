// A number that flickers, calmed: a new value counts once it has stayed for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace rubato::app {

class SettledValue {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SettledValue(Clock::duration settle_time) : settle_time_(settle_time) {}

  // Takes the value seen at a time, and gives the one that counts. The first counts at once.
  std::uint64_t see(std::uint64_t value, Clock::time_point now);

 private:
  Clock::duration settle_time_;
  std::optional<std::uint64_t> settled_;
  std::uint64_t candidate_ = 0;
  Clock::time_point since_;
};

}  // namespace rubato::app
