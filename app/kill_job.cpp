// See kill_job.hpp.
#include "app/kill_job.hpp"

#include <signal.h>

#include <chrono>
#include <optional>
#include <string>
#include <system_error>

#include "app/job_processes.hpp"
#include "app/process_handle.hpp"
#include "runtime/seconds_since.hpp"
#include "runtime/temporary_file.hpp"

namespace rubato::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto progress_interval = 2ms;
constexpr auto longest_ending = 60s;  // of a job that was sent its signal; beyond it, it is stuck

// A file on its way to be a checkpoint has a temporary name.
bool is_saving(const fs::path& directory) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory / "checkpoints", error)) {
    if (runtime::is_temporary_name(entry.path().filename().string())) return true;
  }
  return false;
}

void send(pid_t pid, int signal) {
  if (const auto process = ProcessHandle::open(pid)) process->send(signal);
}

void deliver(const MpiJob& job, const Kill& kill) {
  const auto ranks = job.live_ranks();
  const auto mpirun = find_mpirun(find_job_processes(job.mark()), job.pid());
  switch (kill.way) {
    case KillWay::rank:
      if (!ranks.empty()) send(ranks[kill.victim % ranks.size()], SIGKILL);
      return;
    case KillWay::launcher:
      return send(mpirun, SIGKILL);
    case KillWay::stop:
      return send(mpirun, SIGUSR1);
    case KillWay::terminate:
      return send(mpirun, SIGTERM);
    case KillWay::planned:
      return;  // it stops by itself
  }
}

}  // namespace

KilledJob kill_job(MpiJob& job, const Kill& kill, MetricsFollower& follower,
                   const fs::path& directory, std::uint64_t patience, StopSignals& signals) {
  const auto start = Clock::now();
  const auto has_come = [&] {
    if (kill.way == KillWay::planned) return false;
    if (kill.way == KillWay::rank && job.live_ranks().empty()) return false;
    if (kill.moment == KillMoment::at_start) {
      return runtime::seconds_since(start) >= kill.delay_seconds;
    }
    follower.look();
    if (follower.update() < kill.update || !follower.resumed_from()) return false;
    const bool should_wait =
        kill.moment == KillMoment::while_saving && follower.update() < kill.update + patience;
    return !should_wait || is_saving(directory);
  };
  while (!has_come()) {
    signals.require_none();
    if (const auto end = job.wait_for(progress_interval)) {
      return {.end = *end, .has_stopped_first = kill.way != KillWay::planned};
    }
  }
  deliver(job, kill);
  if (const auto end = job.wait_for(longest_ending, signals.descriptor())) return {.end = *end};
  signals.require_none();
  return {.end = job.kill(), .is_stuck = true};
}

}  // namespace rubato::app
