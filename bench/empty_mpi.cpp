// The least that a program under mpirun takes: MPI starts, a line is printed, MPI ends.
//
// startup_and_memory.py runs it in turn with rubato; what rubato needs more is rubato's own.
#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::puts("started");
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
