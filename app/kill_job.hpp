// One kill of one job: waits for its moment, kills, and waits until nothing of the job is left.
#pragma once

#include <cstdint>
#include <filesystem>

#include "app/kill_plan.hpp"
#include "app/metrics_follower.hpp"
#include "app/mpi_job.hpp"
#include "app/stop_signals.hpp"

namespace rubato::app {

struct KilledJob {
  JobEnd end;
  bool has_stopped_first = false;  // it ended before its moment had come
  bool is_stuck = false;           // it did not end by itself after the kill, within a minute
};

// `directory` is the run's. A kill while saving comes as soon as a checkpoint is begun to be
// written, or without that after `patience` further updates. Throws Interrupted.
KilledJob kill_job(MpiJob& job, const Kill& kill, MetricsFollower& follower,
                   const std::filesystem::path& directory, std::uint64_t patience,
                   StopSignals& signals);

}  // namespace rubato::app
