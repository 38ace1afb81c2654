// The MPI datatype of an element type. A table, because MPI's handles are not constant expressions
// in Open MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rubato::collectives {

template <class T>
MPI_Datatype mpi_type() {
  if constexpr (std::is_same_v<T, float>) {
    return MPI_FLOAT;
  } else if constexpr (std::is_same_v<T, double>) {
    return MPI_DOUBLE;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return MPI_INT64_T;
  } else {
    static_assert(std::is_same_v<T, std::byte>, "float, double, std::int64_t or std::byte");
    return MPI_BYTE;
  }
}

}  // namespace rubato::collectives
