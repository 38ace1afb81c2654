// What a job of Open MPI leaves on this host when its mpirun is killed: the session directory
// (TMPDIR/ompi.HOST.UID/pid.PID) and the shared memory of its ranks (/dev/shm/vader_segment...).
// An mpirun that ends by itself removes both, also after ranks that died.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace rubato::app {

struct MpiFolders {
  std::filesystem::path temporary;  // where session directories are
  std::filesystem::path shared_memory;
};
MpiFolders mpi_folders();  // of this host

// Removes what is left of the job whose mpirun was the process `launcher`, which has ended, and
// nothing else. What cannot be removed stays.
void remove_mpi_leftovers(pid_t launcher, const MpiFolders& folders = mpi_folders()) noexcept;

// Whether a file in shared memory belongs to the job family: "vader_segment.HOST.UID.JOB.RANK",
// "osc_rdma.HOST.JOB.NUMBER", where JOB is hexadecimal: the family, then 0001.
bool is_shared_by_family(std::string_view file_name, unsigned family);

}  // namespace rubato::app
