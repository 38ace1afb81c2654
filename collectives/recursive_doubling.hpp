// Recursive doubling allreduce (Thakur, Rabenseifner & Gropp 2005, section 4.5,
// doi:10.1177/1094342005051521).
//
// In round k ranks whose numbers differ in bit k exchange all they have summed so far: log2(P)
// rounds, each of the whole array. Where P is no power of two, the ranks in excess first hand their
// array to a neighbour, and get the result from it at the end. Fewest steps, most bytes: right for
// short arrays.
#pragma once

#include <span>

#include "collectives/communicator.hpp"

namespace rubato::collectives {

template <class T>  // float, double, std::int64_t
void recursive_doubling_sum(const Communicator& ranks, std::span<T> data);

}  // namespace rubato::collectives
