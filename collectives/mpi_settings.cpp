// See mpi_settings.hpp.
#include "collectives/mpi_settings.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>

namespace rubato::collectives {
namespace {

// The number at the beginning of an environment variable ("2(x3),1" means 2); 0 if there is none.
long leading_number(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

long ranks_on_this_host() {
  const long by_mpirun = leading_number("OMPI_COMM_WORLD_LOCAL_SIZE");
  return by_mpirun > 0 ? by_mpirun : leading_number("SLURM_TASKS_PER_NODE");
}

// Launchers that bind ranks to cores give each its own: then the host's cores count.
long cores_of_this_host() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool is_known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  const long mine = is_known ? CPU_COUNT(&allowed) : 1;
  return mine > 1 ? mine : sysconf(_SC_NPROCESSORS_ONLN);
}

bool are_all_ranks_on_this_host() {
  const long by_mpirun = leading_number("OMPI_COMM_WORLD_SIZE");
  if (by_mpirun > 0) return by_mpirun == leading_number("OMPI_COMM_WORLD_LOCAL_SIZE");
  const long hosts_of_srun = leading_number("SLURM_STEP_NUM_NODES");
  if (hosts_of_srun > 0) return hosts_of_srun == 1;
  return std::getenv("PMIX_RANK") == nullptr;  // no launcher: a process alone
}

void set_unless_set(const char* variable, const char* value) { setenv(variable, value, 0); }

}  // namespace

void choose_mpi_settings() {
  if (ranks_on_this_host() > cores_of_this_host()) {
    set_unless_set("OMPI_MCA_mpi_yield_when_idle", "1");
  }
  if (are_all_ranks_on_this_host()) set_unless_set("OMPI_MCA_pml", "ob1");
}

}  // namespace rubato::collectives
