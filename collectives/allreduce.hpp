// Allreduce: the sum of one array per rank, on every rank, in place.
//
// The README of this folder has the cost table. All algorithms give the same bits where the sums
// are exact (integers, pre-rounded doubles); with floats each has its own, fixed, order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/topology.hpp"

namespace rubato::collectives {

enum class AllreduceAlgorithm {
  automatic,  // node_shared where ranks share a node; else by size: recursive doubling or ring
  library,    // MPI_Allreduce
  ring,       // reduce-scatter and all-gather around a ring: ring.hpp
  recursive_doubling,  // log2(P) exchanges of the whole array: recursive_doubling.hpp
  node_shared,         // shared memory within a node, MPI across nodes: node_exchange.hpp
};

// "auto", "library", "ring", "recursive-doubling", "node-shared". Throws std::invalid_argument for
// another name.
AllreduceAlgorithm allreduce_algorithm(const std::string& name);
std::string to_string(AllreduceAlgorithm algorithm);
std::vector<std::string> allreduce_algorithm_names();

// What `automatic` means for an array of `bytes` bytes; any other algorithm means itself.
AllreduceAlgorithm chosen_algorithm(const Topology& topology, AllreduceAlgorithm algorithm,
                                    std::size_t bytes);

// Collective; `data` has the same size on all ranks, any size (chunked above what MPI's int counts
// hold). T: float, double, std::int64_t.
template <class T>
void allreduce(const Topology& topology, std::span<T> data, AllreduceAlgorithm algorithm);

}  // namespace rubato::collectives
