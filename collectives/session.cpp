// This is the one file of the library that prints and ends the process: it stands where main()
// does.
#include "collectives/session.hpp"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "collectives/agreement.hpp"
#include "collectives/host_name.hpp"
#include "collectives/mpi_error.hpp"

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

// Open MPI polls without end while it waits. It must be told before MPI_Init to yield between
// polls, and only mpirun with a host file of known slots does so by itself.
void let_waiting_ranks_yield() {
  if (ranks_on_this_host() > cores_of_this_host()) {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", /*overwrite=*/0);
  }
}

void print_line(const std::string& line) {
  std::fputs((line + "\n").c_str(), stderr);  // one write: lines of ranks do not mix
  std::fflush(stderr);
}

int end_together(const Communicator& world, const Failure& failure) {
  if (world.rank() == 0) {
    print_line("rubato: " + failure.message);
  }
  return failure.exit_code;
}

[[noreturn]] void end_all_ranks(const Communicator& world, const Failure& failure) {
  print_line("rubato: rank " + std::to_string(world.rank()) + " on " + host_name() + ": " +
             failure.message);
  MPI_Abort(world.handle(), failure.exit_code);
  std::_Exit(failure.exit_code);  // no destructor may wait for ranks that are gone
}

}  // namespace

Session::Session(int& argc, char**& argv) {
  int is_initialized = 0;
  check_mpi(MPI_Initialized(&is_initialized), "MPI_Initialized");
  if (is_initialized != 0) {
    return;
  }
  let_waiting_ranks_yield();
  int granted = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted), "MPI_Init_thread");
  is_owner_ = true;
  if (granted < MPI_THREAD_FUNNELED) {
    throw std::runtime_error(
        "the MPI library grants thread level 'single', but 'funneled' is needed");
  }
}

Session::~Session() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_owner_ && is_finalized == 0 && std::uncaught_exceptions() == 0) {
    MPI_Finalize();
  }
}

bool Session::is_open() noexcept {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  return is_initialized != 0 && is_finalized == 0;
}

std::string Session::thread_level() const {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "single";
    case MPI_THREAD_FUNNELED:
      return "funneled";
    case MPI_THREAD_SERIALIZED:
      return "serialized";
    default:
      return "multiple";
  }
}

Failure plain_failure(std::exception_ptr exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return {1, error.what()};
  } catch (...) {
    return {1, "an unknown exception"};
  }
}

int run_session(int argc, char** argv, const std::function<int(Communicator&)>& body,
                const Explain& explain) {
  Session session(argc, argv);
  Communicator world = Communicator::world();
  try {
    return body(world);
  } catch (const AgreedFailure& agreed) {
    return end_together(world, agreed.failure());
  } catch (...) {
    const Failure failure = explain(std::current_exception());
    if (world.size() == 1) {
      return end_together(world, failure);
    }
    end_all_ranks(world, failure);
  }
}

}  // namespace rubato::collectives
