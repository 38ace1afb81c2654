// The batch-size trace that a history of capacities makes, as the text of a file: with a fixed
// number of samples per device, as many as there were devices.
#pragma once

#include <cstdint>
#include <string>

#include "app/capacity_history.hpp"

namespace rubato::app {

struct CapacityTraceRule {
  std::uint64_t samples_per_device = 1;
  std::uint64_t updates_per_row = 1;
  std::uint64_t least_devices = 1;  // rows with fewer are left out
};

struct CapacityTrace {
  std::string text;
  std::uint64_t updates = 0;
  std::uint64_t skipped_rows = 0;
};

// Throws std::invalid_argument if no row is left, or a batch or the trace would be too large.
CapacityTrace trace_from_capacity(const CapacityHistory& history, const CapacityTraceRule& rule);

}  // namespace rubato::app
