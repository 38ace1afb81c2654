// This is the one file of the library that prints and ends the process: it stands where main()
// does.
#include "collectives/session.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "collectives/agreement.hpp"
#include "collectives/host_name.hpp"
#include "collectives/mpi_error.hpp"
#include "collectives/mpi_settings.hpp"

namespace rubato::collectives {
namespace {

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
  choose_mpi_settings();
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
