// Messages under way: MPI's requests, asked about together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/mpi_count.hpp"
#include "collectives/mpi_error.hpp"

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

  // Lets MPI work, and says whether all messages have gone or come.
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
  std::vector<MPI_Request> requests_;
};

}  // namespace rubato::collectives
