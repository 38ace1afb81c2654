#include "app/capacity_trace.hpp"

#include <gtest/gtest.h>

#include "data/batch_trace.hpp"

namespace rubato::app {
namespace {

const auto history = CapacityHistory::from_csv_text("time,GPUs\n0,2\n1,0\n2,3\n3,1\n", "h.csv", "");

std::string refusal(const CapacityTraceRule& rule) {
  try {
    trace_from_capacity(history, rule);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(CapacityTrace, HasTheDevicesTimesTheSamples) {
  const auto made = trace_from_capacity(history, {.samples_per_device = 32, .updates_per_row = 2});
  EXPECT_EQ(made.text,
            "# made by: rubato trace from-capacity\nstep,batchsize\n"
            "0,64\n1,64\n2,96\n3,96\n4,32\n5,32\n");
  EXPECT_EQ(made.updates, 6U);
  EXPECT_EQ(made.skipped_rows, 1U);
  EXPECT_EQ(data::BatchTrace::from_csv_text(made.text, "made").rows(), 6U);
}

TEST(CapacityTrace, LeavesOutRowsWithTooFewDevices) {
  const auto made = trace_from_capacity(history, {.samples_per_device = 10, .least_devices = 3});
  EXPECT_EQ(made.text, "# made by: rubato trace from-capacity\nstep,batchsize\n0,30\n");
  EXPECT_EQ(made.skipped_rows, 3U);
}

TEST(CapacityTrace, RefusesWhatNoTraceCanHold) {
  EXPECT_EQ(refusal({.least_devices = 4}),
            "--least-devices 4: no row has as many; the largest has 3");
  EXPECT_EQ(refusal({.samples_per_device = 715827883}),
            "--samples-per-device 715827883: with 3 devices the batch would exceed 2147483647");
  EXPECT_EQ(refusal({.samples_per_device = 715827882}), "");
  EXPECT_EQ(refusal({.updates_per_row = 2500001}),
            "--updates-per-row 2500001: with 4 rows the trace would exceed 10000000 updates");
}

}  // namespace
}  // namespace rubato::app
