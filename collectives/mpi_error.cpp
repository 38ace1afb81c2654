// The text of an MPI error is MPI's own: we only say which call failed, and where.
#include "collectives/mpi_error.hpp"

#include <mpi.h>

#include <array>
#include <utility>

namespace rubato::collectives {
namespace {

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return "unknown error code " + std::to_string(code);
  }
  return {text.data(), static_cast<std::size_t>(length)};
}

int class_of(int code) {
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// -1 before MPI_Init and after MPI_Finalize.
int world_rank() {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  int rank = -1;
  if (is_initialized != 0 && is_finalized == 0) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  return rank;
}

}  // namespace

MpiError::MpiError(std::string call, int code, int rank)
    : std::runtime_error(call + " failed on rank " + std::to_string(rank) + ": " + text_of(code)),
      call_(std::move(call)),
      error_class_(class_of(code)),
      rank_(rank) {}

void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) {
    throw MpiError(call, code, world_rank());
  }
}

}  // namespace rubato::collectives
