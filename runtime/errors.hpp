// What can go wrong with what a run writes.
#pragma once

#include <stdexcept>

namespace rubato::runtime {

// The output directory cannot be made or used. The sentence names it and says why.
class OutputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Writing failed (disk full, I/O error). The sentence names file and cause.
class WriteError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A run cannot go on: its numbers are no longer finite, or it ended before its goal. The sentence
// says where and what to do.
class RunError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rubato::runtime
