// Keeps a training running: starts it under mpirun, starts it again from its newest checkpoint when
// it dies, and on another number of ranks when the number of devices changes.
//
// One job at a time. A change of capacity and a stop signal ask the job to stop after the update it
// is in (SIGUSR1 to mpirun; the ranks write a checkpoint and end with 75, or the code that the
// training was told). One that has not ended after `stop_grace` is killed, and goes on from the
// checkpoint before: no failure that counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/capacity_source.hpp"
#include "app/failure.hpp"
#include "app/launch_events.hpp"
#include "app/mpi_job.hpp"
#include "app/restart_policy.hpp"
#include "app/settled_value.hpp"
#include "app/stop_signals.hpp"

namespace rubato::app {

struct LaunchPlan {
  std::filesystem::path directory;    // of the run
  std::vector<std::string> launcher;  // mpirun
  std::vector<std::string> command;   // the program and its arguments; goes on where the run stands
  RankLimits limits;
  // Of so many ranks at most, how many the training can use, of limits.least or more never fewer
  // than those; none: all.
  std::function<std::uint64_t(std::uint64_t)> usable_ranks = {};
  std::chrono::duration<double> settle_time{0.5};
  std::chrono::duration<double> stop_grace{30};
  std::uint64_t most_failures = 10;  // in a row, without progress
  double backoff_seconds = 1;
  int stopped_code = exit_stopped;  // of a job that was stopped to be resumed, and then of run()
};

class Supervisor {
 public:
  Supervisor(LaunchPlan plan, std::unique_ptr<CapacitySource> capacity, StopSignals& signals,
             LaunchEvents& events);

  // Until the run is finished (0), is given up (the job's exit code), or was stopped
  // (stopped_code).
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  void look();
  bool wait(Clock::time_point until);
  bool pause_while_short();
  JobEnd supervise(std::uint64_t ranks);
  void ask_to_stop(MpiJob& job, std::uint64_t ranks);
  bool is_grace_over() const;
  int stop(const std::string& reason);
  int give_up(const JobEnd& end, const std::string& reason);
  LaunchEvent event(std::string name, std::string reason) const;

  LaunchPlan plan_;
  std::unique_ptr<CapacitySource> capacity_;
  StopSignals& signals_;
  LaunchEvents& events_;
  RestartPolicy policy_;
  SettledValue settled_ranks_;
  std::uint64_t devices_ = 0;  // seen last
  std::uint64_t ranks_ = 0;    // that they make, settled; 0: too few
  std::uint64_t job_ranks_ = 0;
  std::string next_event_ = "start";  // of the job that comes
  std::string next_reason_;
  bool was_asked_ = false;  // the job, to stop
  Clock::time_point grace_end_;
};

}  // namespace rubato::app
