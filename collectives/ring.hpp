// Ring allreduce (Patarasuk & Yuan 2009, section 4, doi:10.1016/j.jpdc.2008.09.002).
//
// The array is cut into as many parts as there are ranks. Reduce-scatter: part by part, each rank
// passes on what it has summed so far, until rank r holds the whole sum of part r+1. All-gather:
// the finished parts go round once more. Each rank sends 2 (P-1)/P of the array, the least
// possible; the price is 2 (P-1) steps, so short arrays want recursive doubling.
#pragma once

#include <span>

#include "collectives/communicator.hpp"

namespace rubato::collectives {

template <class T>  // float, double, std::int64_t
void ring_sum(const Communicator& ranks, std::span<T> data);

}  // namespace rubato::collectives
