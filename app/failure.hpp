// What an exception means to the caller of the command: one sentence, and an exit code that a
// script can act upon.
//
//   64 wrong option, value or combination      71 MPI or operating system
//   65 the content of a file is wrong          73 output cannot be made; directory in use
//   66 a file is missing                       74 I/O failed at the end
//   70 internal error; replicas diverged       75 stopped before the end, resumable (returned,
//   never thrown)
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "collectives/session.hpp"

namespace rubato::app {

enum ExitCode : int {
  exit_done = 0,
  exit_usage = 64,
  exit_content = 65,
  exit_missing_file = 66,
  exit_internal = 70,
  exit_system = 71,
  exit_cannot_create = 73,
  exit_io = 74,
  exit_stopped = 75,
};

// A wrong option, value or combination of them, seen by the command itself. The libraries say
// std::invalid_argument.
class UsageError : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// The exit code and the sentence for anything that a part of this project throws; "internal error:
// ..." for the rest.
collectives::Failure explain(std::exception_ptr exception);

}  // namespace rubato::app
