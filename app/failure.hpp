// What an exception means to the caller of the command: one sentence, and an exit code that a
// script can act upon (runtime/explain.hpp).
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "collectives/session.hpp"
#include "runtime/explain.hpp"

namespace rubato::app {

using enum runtime::ExitCode;

// A wrong option, value or combination of them, seen by the command itself. The libraries say
// std::invalid_argument.
class UsageError : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// The exit code and the sentence for anything that a part of this project throws; "internal error:
// ..." for the rest.
collectives::Failure explain(std::exception_ptr exception);

}  // namespace rubato::app
