// Arrays from rank to rank, in chunks. exchange() sends one while it receives another, as each step
// of ring and recursive doubling does; each message has a partner even if one array is shorter.
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

template <class T>
void send(const Communicator& ranks, std::size_t to, std::span<const T> array) {
  exchange(ranks, to, array, to, std::span<T>());
}

template <class T>
void receive(const Communicator& ranks, std::size_t from, std::span<T> array) {
  exchange(ranks, from, std::span<const T>(), from, array);
}

}  // namespace rubato::collectives
