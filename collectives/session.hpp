// The life of MPI in a process: MPI_Init_thread when it begins, MPI_Finalize when it ends well.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "collectives/communicator.hpp"

namespace rubato::collectives {

class Session {
 public:
  // Initialises MPI at thread level FUNNELED, unless the embedding program has done so already.
  Session(int& argc, char**& argv);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();  // finalizes MPI if the constructor initialised it and no exception is under way

  // Whether MPI has been initialised in this process, and not finalized: by a Session or otherwise.
  static bool is_open() noexcept;

  // The level that MPI granted: "single", "funneled", "serialized" or "multiple".
  std::string thread_level() const;

 private:
  bool is_owner_ = false;
};

// What an exception means to the world: one sentence, and the exit code of the process.
struct Failure {
  int exit_code;
  std::string message;
};

using Explain = std::function<Failure(std::exception_ptr)>;

// The words of a std::exception, and exit code 1.
Failure plain_failure(std::exception_ptr exception);

// Runs `body` inside a session and returns the process's exit code. An exception that reaches the
// top ends the job:
//  * thrown by agree() (agreement.hpp), it is the same on every rank: rank 0 prints "rubato:
//  MESSAGE", every rank
//    finalizes and returns the same code;
//  * any other may be this rank's alone: it prints "rubato: rank R on HOST: MESSAGE" and ends all
//  ranks with the code
//    (MPI_Abort), because the others may be waiting for it. With one rank the first form is used.
// `explain` turns a foreign exception into a Failure.
int run_session(int argc, char** argv, const std::function<int(Communicator&)>& body,
                const Explain& explain = plain_failure);

}  // namespace rubato::collectives
