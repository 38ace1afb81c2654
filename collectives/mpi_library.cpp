// See mpi_library.hpp.
#include "collectives/mpi_library.hpp"

#include <mpi.h>

#include <array>

#include "collectives/mpi_error.hpp"

namespace rubato::collectives {
namespace {

std::string name_of_thread_level(int level) {
  if (level == MPI_THREAD_SINGLE) return "single";
  if (level == MPI_THREAD_FUNNELED) return "funneled";
  return level == MPI_THREAD_SERIALIZED ? "serialized" : "multiple";
}

}  // namespace

MpiLibrary mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  const std::string words(text.data());
  return {words.substr(0, words.find_first_of(",\n")), name_of_thread_level(level)};
}

}  // namespace rubato::collectives
