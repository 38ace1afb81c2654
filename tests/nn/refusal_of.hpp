// What an action says when it refuses: the message of the exception that it ends with.
#pragma once

#include <stdexcept>
#include <string>

namespace rubato::nn {

// An exception of another kind ends the test.
template <typename Exception = std::invalid_argument, typename Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace rubato::nn
