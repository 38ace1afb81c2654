// The part of waiting that enters the kernel.
#include "collectives/wait_until.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <thread>

#include "collectives/mpi_error.hpp"

namespace rubato::collectives {

void give_way(const Patience& patience, std::chrono::steady_clock::duration waited) {
  if (patience.helps_mpi) {
    int is_there = 0;  // never: nobody sends to MPI_COMM_SELF. The probe is for its side effect.
    check_mpi(MPI_Iprobe(0, 0, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }
  if (waited < patience.yields) {
    sched_yield();
  } else {
    using Duration = std::chrono::steady_clock::duration;
    const Duration part = std::min<Duration>(waited / 128, patience.longest_sleep);
    std::this_thread::sleep_for(std::max<Duration>(part, patience.sleep));
  }
}

}  // namespace rubato::collectives
