// Messages and small sums under way: MPI's requests, asked about together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/mpi_count.hpp"
#include "collectives/mpi_error.hpp"
#include "collectives/mpi_type.hpp"

namespace rubato::collectives {

class PendingRequests {
 public:
  // The bytes stay where they are, and those to send unchanged, until are_done().
  void receive(const Communicator& ranks, std::size_t from, int tag, std::span<std::byte> bytes) {
    check_mpi(MPI_Irecv(bytes.data(), mpi_int(bytes.size()), MPI_BYTE, mpi_int(from), tag,
                        ranks.handle(), &requests_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Irecv");
  }
  void send(const Communicator& ranks, std::size_t to, int tag, std::span<const std::byte> bytes) {
    check_mpi(MPI_Isend(bytes.data(), mpi_int(bytes.size()), MPI_BYTE, mpi_int(to), tag,
                        ranks.handle(), &requests_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Isend");
  }

  // Over the ranks, element by element, in place; collective. Nobody reads or writes the values
  // until are_done().
  void sum(const Communicator& ranks, std::span<double> values) { combine(ranks, values, MPI_SUM); }
  void maximum(const Communicator& ranks, std::span<std::int64_t> values) {
    combine(ranks, values, MPI_MAX);
  }

  // Lets MPI work, and says whether all messages have gone or come, all sums been made.
  bool are_done() {
    if (requests_.empty()) return true;
    int is_done = 0;
    check_mpi(
        MPI_Testall(mpi_int(requests_.size()), requests_.data(), &is_done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    if (is_done != 0) requests_.clear();
    return requests_.empty();
  }

 private:
  template <class T>
  void combine(const Communicator& ranks, std::span<T> values, MPI_Op operation) {
    for_each_chunk(values.size(), [&](std::size_t begin, std::size_t size) {
      check_mpi(
          MPI_Iallreduce(MPI_IN_PLACE, values.data() + begin, mpi_int(size), mpi_type<T>(),
                         operation, ranks.handle(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Iallreduce");
    });
  }

  std::vector<MPI_Request> requests_;
};

}  // namespace rubato::collectives
