// The processes of one job on this host, found by a mark in their environment: it reaches every
// process that the launcher starts, and stays when the launcher is gone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rubato::app {

inline constexpr const char* job_mark_variable = "RUBATO_JOB";

struct JobProcess {
  pid_t pid = -1;
  bool is_rank = false;  // started as a rank: not the launcher, nor what a rank has started
};

// Those of this user whose environment holds RUBATO_JOB=mark; without zombies and this process.
std::vector<JobProcess> find_job_processes(const std::string& mark);

// The job's mpirun among its processes, where a script has started it; otherwise `launcher`.
pid_t find_mpirun(const std::vector<JobProcess>& processes, pid_t launcher);

// Whether the process has a handler for the signal (or ignores it), so that the signal would not
// simply end it. One that only blocks it does not listen: every process does so while it starts
// another. False if there is no such process.
bool listens_to(pid_t pid, int signal);

}  // namespace rubato::app
