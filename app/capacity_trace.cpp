// See capacity_trace.hpp.
#include "app/capacity_trace.hpp"

#include <stdexcept>

#include "data/trace_reader.hpp"

namespace rubato::app {
namespace {

constexpr std::uint64_t most_updates = 10'000'000;

void check(const CapacityHistory& history, const CapacityTraceRule& rule) {
  if (rule.samples_per_device > data::most_batch_size / history.largest()) {
    throw std::invalid_argument("--samples-per-device " + std::to_string(rule.samples_per_device) +
                                ": with " + std::to_string(history.largest()) +
                                " devices the batch would exceed " +
                                std::to_string(data::most_batch_size));
  }
  if (rule.updates_per_row > most_updates / history.rows().size()) {
    throw std::invalid_argument("--updates-per-row " + std::to_string(rule.updates_per_row) +
                                ": with " + std::to_string(history.rows().size()) +
                                " rows the trace would exceed " + std::to_string(most_updates) +
                                " updates");
  }
  if (rule.least_devices > history.largest()) {
    throw std::invalid_argument("--least-devices " + std::to_string(rule.least_devices) +
                                ": no row has as many; the largest has " +
                                std::to_string(history.largest()));
  }
}

}  // namespace

CapacityTrace trace_from_capacity(const CapacityHistory& history, const CapacityTraceRule& rule) {
  check(history, rule);
  CapacityTrace trace{.text = "# made by: rubato trace from-capacity\nstep,batchsize\n"};
  for (const auto& row : history.rows()) {
    if (row.devices == 0 || row.devices < rule.least_devices) {
      ++trace.skipped_rows;
      continue;
    }
    const std::string size = std::to_string(row.devices * rule.samples_per_device);
    for (std::uint64_t i = 0; i < rule.updates_per_row; ++i) {
      trace.text += std::to_string(trace.updates++) + "," + size + "\n";
    }
  }
  return trace;
}

}  // namespace rubato::app
