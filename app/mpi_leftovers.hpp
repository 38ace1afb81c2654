// What a job of Open MPI has on this host, and leaves when its mpirun is killed: the session
// directory (TMPDIR/ompi.HOST.UID/pid.PID) and the shared memory of its ranks
// (/dev/shm/vader_segment..., and for a moment our own /dev/shm/rubato..., a file without memory
// then; not looked for where RUBATO_SHARED_MEMORY puts it). An mpirun that ends by itself removes
// both, also after ranks that died. One that is killed while it does so has perhaps removed the
// first alone, which says whose the second is: so it is read while the job runs.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

namespace rubato::app {

struct MpiFolders {
  std::filesystem::path temporary;  // where session directories are
  std::filesystem::path shared_memory;
};
MpiFolders mpi_folders();  // of this host

struct MpiSession {
  std::filesystem::path directory;
  std::optional<unsigned> family = {};  // the number of its mpirun; none: not written down yet
};

// That of an mpirun, if it has one.
std::optional<MpiSession> find_mpi_session(pid_t mpirun,
                                           const MpiFolders& folders = mpi_folders()) noexcept;

// Removes what is left of the session of an mpirun that has ended, and nothing else. What cannot be
// removed stays.
void remove_mpi_leftovers(const MpiSession& session,
                          const MpiFolders& folders = mpi_folders()) noexcept;

// Whether a file in shared memory belongs to the job family: "vader_segment.HOST.UID.JOB.RANK",
// where JOB is hexadecimal: the family, then 0001; "rubato.JOB.NAME" (collectives/node_memory),
// where it is decimal.
bool is_shared_by_family(std::string_view file_name, unsigned family);

}  // namespace rubato::app
