// An MPI call that failed, as an exception: which call, MPI's error class and text, and the rank it
// failed on.
//
// Every communicator of this library carries MPI_ERRORS_RETURN; without it MPI ends the job before
// any check is reached.
#pragma once

#include <stdexcept>
#include <string>

namespace rubato::collectives {

class MpiError : public std::runtime_error {
 public:
  MpiError(std::string call, int code, int rank);

  const std::string& call() const noexcept { return call_; }
  int error_class() const noexcept { return error_class_; }
  int rank() const noexcept { return rank_; }

 private:
  std::string call_;
  int error_class_;
  int rank_;
};

// Throws MpiError unless `code` is MPI_SUCCESS. `call` is the name of the MPI function.
void check_mpi(int code, const char* call);

}  // namespace rubato::collectives
