// One rank sends an array while it receives another: the step of which ring and recursive doubling
// are made. Both arrays travel in chunks; each message has a partner even if one array is shorter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "collectives/communicator.hpp"
#include "collectives/mpi_count.hpp"
#include "collectives/mpi_error.hpp"
#include "collectives/mpi_type.hpp"

namespace rubato::collectives {

// `outgoing` and `incoming` may differ in size and be empty; an empty one sends no message.
template <class T>
void exchange(const Communicator& ranks, std::size_t to, std::span<const T> outgoing,
              std::size_t from, std::span<T> incoming) {
  const std::size_t limit = max_elements_per_call();
  const std::size_t longer = std::max(outgoing.size(), incoming.size());
  for (std::size_t begin = 0; begin < longer; begin += limit) {
    const auto part = [&](auto array) {
      return array.subspan(std::min(begin, array.size()),
                           std::min(limit, array.size() - std::min(begin, array.size())));
    };
    const std::span<const T> sent = part(outgoing);
    const std::span<T> received = part(incoming);
    check_mpi(MPI_Sendrecv(sent.data(), mpi_int(sent.size()), mpi_type<T>(),
                           sent.empty() ? MPI_PROC_NULL : mpi_int(to), 0, received.data(),
                           mpi_int(received.size()), mpi_type<T>(),
                           received.empty() ? MPI_PROC_NULL : mpi_int(from), 0, ranks.handle(),
                           MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
  }
}

}  // namespace rubato::collectives
