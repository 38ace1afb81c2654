// One job under mpirun: started, watched, asked to stop, ended, cleaned up after.
//
// mpirun needs 2 s to end a job one of whose ranks has died (SIGCONT, SIGTERM after 1 s, SIGKILL
// after 2 s; Open MPI 4.1). Here the ranks of this host are watched themselves: when some have
// ended and others go on for 0.4 s, the others are killed, and mpirun too unless it ends with them.
// (In a run that says of itself that it ends, 10 s: ranks that leave do not leave together.) Ranks
// of other hosts are left to mpirun. Nothing outlives the object: no process of the job on this
// host, no file of Open MPI. If this process is killed, mpirun is told to end the job.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/job_processes.hpp"
#include "app/mpi_leftovers.hpp"
#include "app/process_handle.hpp"

namespace rubato::app {

struct MpiJobPlan {
  std::vector<std::string> launcher{"mpirun"};  // a program and its arguments
  std::uint64_t ranks = 1;
  std::vector<std::string> command{};                      // what each rank runs, and its arguments
  bool stops_by_usr1 = false;                              // launcher_start.hpp
  std::function<bool()> is_ending = [] { return false; };  // what the run says of itself
};

// LAUNCHER -q -n RANKS [--oversubscribe] COMMAND, oversubscribed if there are more ranks than
// `cores`.
std::vector<std::string> launch_words(const MpiJobPlan& plan, std::uint64_t cores);

struct JobEnd {
  int exit_code = 0;             // of mpirun; 128+n if signal n ended it
  bool had_dead_ranks = false;   // some ranks ended while others went on
  bool has_ended_alone = false;  // not by kill()
};

class MpiJob {
 public:
  // Starts it, with standard input closed and in a process group of its own, so that Ctrl-C
  // reaches only this process. Throws std::system_error if the launcher cannot be started.
  explicit MpiJob(const MpiJobPlan& plan);
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  ~MpiJob();  // kill()

  pid_t pid() const noexcept { return launcher_.pid(); }      // of mpirun, or of what starts it
  const std::string& mark() const noexcept { return mark_; }  // find_job_processes() knows it by
  std::vector<pid_t> live_ranks() const;                      // those known on this host

  // Watches the job for `time`, or until the descriptor `wake` is readable. Gives its end once it
  // has one.
  std::optional<JobEnd> wait_for(std::chrono::milliseconds time, int wake = -1);

  // Sends SIGUSR1 to mpirun, which hands it to every rank. A process that does not listen to it
  // yet would die of it: the signal waits, within wait_for(), until mpirun and the ranks do.
  void request_stop();

  // Ends every process of the job at once.
  JobEnd kill();

 private:
  using Clock = std::chrono::steady_clock;
  void find_ranks();
  void find_session(const std::vector<JobProcess>& processes);
  void note_deaths();
  void send_stop_when_heard();
  bool is_heard() const;
  bool is_starting() const;
  void poll(std::chrono::milliseconds time, int wake) const;
  bool reap();
  void finish();

  std::uint64_t ranks_wanted_;
  std::string mark_;
  std::function<bool()> is_ending_;
  ProcessHandle launcher_;
  std::optional<MpiSession> session_;
  Clock::time_point started_ = Clock::now();
  std::vector<ProcessHandle> ranks_;
  std::optional<Clock::time_point> first_death_;
  std::optional<Clock::time_point> survivors_killed_;
  bool wants_stop_ = false;
  bool is_killed_ = false;
  JobEnd end_;
  bool has_end_ = false;
};

}  // namespace rubato::app
