// What Open MPI must be told before MPI_Init, because it cannot find out by itself. It is told
// through the environment; what the user has set there (or by mpirun's --mca) stays.
#pragma once

namespace rubato::collectives {

// With more ranks on this host than cores: to yield between polls while it waits, which it does by
// itself only where a host file says how many slots there are.
//
// With all ranks on this host, or alone, as mpirun and srun say in the environment: to send by its
// own shared memory and TCP (the "ob1" layer). Otherwise it looks for special network cards first,
// for 0.2 s, more than half of a start. Ranks that are to reach those of another job by such a card
// (MPI_Comm_spawn and the like) set OMPI_MCA_pml themselves.
void choose_mpi_settings();

}  // namespace rubato::collectives
