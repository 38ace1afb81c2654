// Allreduce: the sum of one array per rank, on every rank, in place.
//
// The README of this folder has the cost table. All algorithms give the same bits where the sums are exact (integers, pre-rounded
// doubles); with floats each has its own, fixed, order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/topology.hpp"

namespace rubato::collectives {

enum class AllreduceAlgorithm {
  automatic,           // node_shared, wherever the ranks share memory in twos or more; else by size: recursive doubling or ring
  library,             // MPI_Allreduce
  ring,                // reduce-scatter and all-gather around a ring (Patarasuk & Yuan 2009, doi:10.1016/j.jpdc.2008.09.002)
  recursive_doubling,  // log2(P) exchanges of the whole array (Thakur et al. 2005, doi:10.1177/1094342005051521)
  node_shared,         // shared memory within a node, slice by slice; the slices across nodes
};

// "auto", "library", "ring", "recursive-doubling", "node-shared". Throws std::invalid_argument for another name.
AllreduceAlgorithm allreduce_algorithm(const std::string& name);
std::string to_string(AllreduceAlgorithm algorithm);
std::vector<std::string> allreduce_algorithm_names();

// Collective; `data` has the same size on all ranks, any size (chunked above what MPI's int counts hold).
// T: float, double, std::int64_t.
template <class T>
void allreduce(const Topology& topology, std::span<T> data, AllreduceAlgorithm algorithm);

}  // namespace rubato::collectives
