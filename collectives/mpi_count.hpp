// MPI counts are ints; our sizes are not. All narrowing happens here.
//
// Long arrays travel in chunks of at most max_elements_per_call(). The limit is far below what an
// int holds, because MPI libraries multiply counts by element sizes; a chunk of 2^27 elements is
// long enough to hide the cost of a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

namespace rubato::collectives {

inline constexpr std::size_t default_max_elements_per_call = std::size_t{1} << 27;

// The limit in force. All ranks must have the same one.
inline std::size_t& max_elements_per_call() {
  static std::size_t limit = default_max_elements_per_call;
  return limit;
}

// Lowers the limit while it lives, so that tests see chunking with short arrays.
class ScopedMaxElementsPerCall {
 public:
  explicit ScopedMaxElementsPerCall(std::size_t limit) : before_(max_elements_per_call()) {
    max_elements_per_call() = limit;
  }
  ScopedMaxElementsPerCall(const ScopedMaxElementsPerCall&) = delete;
  ScopedMaxElementsPerCall& operator=(const ScopedMaxElementsPerCall&) = delete;
  ~ScopedMaxElementsPerCall() { max_elements_per_call() = before_; }

 private:
  std::size_t before_;
};

// The int that MPI wants. Throws std::length_error if the number does not fit.
inline int mpi_int(std::size_t number) {
  if (number > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::length_error("a count of " + std::to_string(number) +
                            " does not fit into an MPI call, whose counts end at 2147483647");
  }
  return static_cast<int>(number);
}

// Calls exchange(begin, size) for consecutive chunks of `count` elements; not at all if there are
// none.
template <class Exchange>
void for_each_chunk(std::size_t count, const Exchange& exchange) {
  const std::size_t limit = max_elements_per_call();
  for (std::size_t begin = 0; begin < count; begin += limit) {
    exchange(begin, std::min(limit, count - begin));
  }
}

}  // namespace rubato::collectives
