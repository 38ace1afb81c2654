// What an exception of these libraries means to the caller of a program: one sentence, and an exit
// code that a script can act upon. For collectives::run_session().
//
//   64 wrong option, value or combination      71 MPI or operating system
//   65 the content of a file is wrong          73 output cannot be made; directory in use
//   66 a file is missing                       74 I/O failed at the end
//   70 internal error; replicas diverged       75 stopped before the end, resumable
#pragma once

#include <exception>

#include "collectives/session.hpp"

namespace rubato::runtime {

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

// "internal error: ..." for what none of the libraries throws on purpose.
collectives::Failure explain(std::exception_ptr exception);

}  // namespace rubato::runtime
