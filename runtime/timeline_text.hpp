// Timelines of many ranks as one file in Chrome's trace event format, which Perfetto
// (ui.perfetto.dev) and chrome://tracing show: "Trace Event Format",
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
// A process is a host, a thread is a rank; rows more are, on rank 0's host, the checkpoint writer,
// and a rank's sums over the network, which go on beside its phases.
// An update is an event around those of its phases. Times are microseconds, with three decimals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/heartbeat.hpp"
#include "runtime/timeline.hpp"

namespace rubato::runtime {

// Nanoseconds since the timeline began, by rank 0's clock.
struct TimelineSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t update = 0;
  Phase phase = Phase::starting;
};

struct TimelineCheckpoint {
  std::uint64_t update = 0;
  std::int64_t begin = 0;  // nanoseconds, as above
  std::int64_t encoded = 0;
  std::int64_t written = 0;
};

// What is told of an update beside its phases.
struct TimelineUpdate {
  std::uint64_t batch_size = 0;
  std::uint64_t minibatches = 0;
};

// What the file says of itself.
struct TimelineFacts {
  std::vector<std::string> hosts;
  std::size_t ranks = 1;
  bool is_complete = true;         // or the beginning of the run is left out,
  std::uint64_t first_update = 0;  // what was before this update
  std::size_t capacity = 0;        // because so many phases of a rank are kept
  double clock_error = 0;          // seconds by which the clocks of hosts may differ
};

class TimelineText {
 public:
  TimelineText(TimelineFacts facts, std::map<std::uint64_t, TimelineUpdate> updates);

  void add_rank(std::size_t rank, std::size_t host, std::span<const TimelineSpan> spans);
  // After the rank itself, if it has any.
  void add_transfers(std::size_t rank, std::size_t host,
                     std::span<const TimelineTransfer> transfers);
  void add_checkpoints(std::span<const TimelineCheckpoint> checkpoints);
  std::string finish() &&;  // the whole file

 private:
  struct Row;
  void event(const Row& row, const std::string& name, const char* category, std::int64_t begin,
             std::int64_t end, std::uint64_t update);
  void name(const char* kind, const Row& row, const std::string& name);
  void begin_event();

  TimelineFacts facts_;
  std::map<std::uint64_t, TimelineUpdate> updates_;
  std::string text_;
};

}  // namespace rubato::runtime
