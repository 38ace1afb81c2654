// Starts the launcher of a job: mpirun, or what stands in its place.
//
// It gets a process group of its own, so that Ctrl-C reaches only this process, no standard input,
// and an environment with settings of Open MPI that make failures quick. What the environment or
// the launcher's own words (--mca) say instead wins, and other launchers take no notice:
//
//   oob_tcp_keepalive_{time,intvl,probes} 5, 2, 4   a host that is cut off is noticed after 13 s;
//                                                   by default after 8 minutes
//   odls_base_sigkill_timeout 0                     with stops_by_usr1: by default mpirun gives the
//                                                   ranks a second after SIGCONT and one after
//                                                   SIGTERM, on every host, before it kills them
#pragma once

#include <string>
#include <vector>

#include "app/process_handle.hpp"

namespace rubato::app {

struct LauncherStart {
  std::vector<std::string> command;  // a program and its arguments
  std::string mark;                  // find_job_processes() knows the job by
  // The ranks are asked to stop by SIGUSR1, and need no time to act upon SIGTERM: mpirun kills what
  // is left of a job at once, and if this process is killed, the launcher gets SIGUSR1 instead of
  // SIGTERM.
  bool stops_by_usr1 = false;
};

// Throws std::system_error if it cannot be started.
ProcessHandle start_launcher(const LauncherStart& start);

}  // namespace rubato::app
