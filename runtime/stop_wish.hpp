// Why a run is to stop before its end, to be resumed. What only this rank knows of (a signal, its
// clock) travels as the update's request, and the largest of the ranks' wishes counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/run_options.hpp"

namespace rubato::runtime {

enum class StopCause : std::uint64_t { none, time, signal, update };

class StopWish {
 public:
  // `start`: from when max_seconds count. The options must outlive it.
  StopWish(const RunOptions& options, std::chrono::steady_clock::time_point start)
      : options_(options), start_(start) {}

  // This rank's: a signal before the time.
  StopCause wish() const;
  // Whether so many updates are where the run was told to stop.
  bool is_at_stop(std::uint64_t updates) const;
  // "--max-seconds", "SIGUSR1".
  std::string name_of(StopCause cause) const;

 private:
  const RunOptions& options_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace rubato::runtime
