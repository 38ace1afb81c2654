// The timeline of a whole run, of all ranks, as one file (timeline_text.hpp).
//
// Each rank keeps its last phases in memory: 65536 of them, or fewer where there are many ranks, so
// that the file stays below about 50 MB. At the end rank 0 fetches them rank by rank and writes the
// file; a run that was killed leaves none. Clocks of hosts are compared at the beginning and at the
// end; between the two, their difference is taken to change evenly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/clock_offset.hpp"
#include "collectives/topology.hpp"
#include "runtime/heartbeat.hpp"
#include "runtime/run_log.hpp"
#include "runtime/timeline.hpp"
#include "runtime/timeline_text.hpp"

namespace rubato::runtime {

// How this host's clock stood to rank 0's at a moment of it.
struct ClockMark {
  std::int64_t time = 0;  // nanoseconds
  collectives::ClockOffset offset;
};

// A time of this host's clock as rank 0's tells it, by two comparisons of them.
std::int64_t on_rank_0(std::int64_t time, const ClockMark& first, const ClockMark& last);

// What this host's clock saw, by rank 0's; the last phase ends with the last comparison.
std::vector<TimelineSpan> aligned_spans(std::span<const TimelineEntry> entries,
                                        const ClockMark& first, const ClockMark& last);

std::vector<TimelineTransfer> aligned_transfers(std::vector<TimelineTransfer> transfers,
                                                const ClockMark& first, const ClockMark& last);

class RunTimeline final : public RunLog {
 public:
  // Collective; from now on what `heartbeat` beats is kept. Throws AgreedFailure (OutputError) if
  // the file could not be written. `capacity`: phases of each rank; 0: as above.
  RunTimeline(const collectives::Topology& topology, Heartbeat& heartbeat,
              std::filesystem::path file, const collectives::Explain& explain,
              std::size_t capacity = 0);
  RunTimeline(const RunTimeline&) = delete;
  RunTimeline& operator=(const RunTimeline&) = delete;
  ~RunTimeline() override { heartbeat_.record_into(nullptr); }

  // Rank 0's: sizes of updates, times of checkpoints.
  void update(const StepReport& report) override;
  void checkpoint(const CheckpointReport& report) override;

  // Collective. Throws AgreedFailure (WriteError).
  void write(const collectives::Explain& explain);
  // The same where all ranks have failed alike: that is what the run ends with, even if the
  // timeline cannot be written. What one rank alone throws must end the job: the others wait for
  // it.
  void write_after_failure(const collectives::Explain& explain);

 private:
  ClockMark mark() const;
  TimelineFacts facts(const std::vector<TimelineSpan>& mine, const ClockMark& now) const;
  std::string text(const TimelineFacts& facts, std::span<const std::int64_t> mine) const;
  std::vector<TimelineCheckpoint> checkpoints(std::uint64_t first_update) const;

  const collectives::Topology& topology_;
  Heartbeat& heartbeat_;
  std::filesystem::path file_;
  std::size_t capacity_;
  std::int64_t origin_ = 0;  // of the file's times, on rank 0's clock
  ClockMark start_;
  Timeline timeline_;
  std::map<std::uint64_t, TimelineUpdate> updates_;  // the last ones
  std::vector<CheckpointReport> checkpoints_;        // the last ones
};

}  // namespace rubato::runtime
