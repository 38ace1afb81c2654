// MPI_Allreduce in place, in chunks: the sum over a communicator as the MPI library does it.
#pragma once

#include <span>

#include "collectives/communicator.hpp"
#include "collectives/mpi_count.hpp"
#include "collectives/mpi_error.hpp"
#include "collectives/mpi_type.hpp"

namespace rubato::collectives {

template <class T>
void mpi_sum(const Communicator& ranks, std::span<T> data) {
  for_each_chunk(data.size(), [&](std::size_t begin, std::size_t size) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, data.data() + begin, mpi_int(size), mpi_type<T>(),
                            MPI_SUM, ranks.handle()),
              "MPI_Allreduce");
  });
}

}  // namespace rubato::collectives
