// Allreduce of private arrays through a node's shared memory, and across nodes by MPI.
//
// The array passes in chunks through a pipeline of three stages, one barrier per step:
//   contribute  each rank copies its chunk into its staging memory, except the part it owns itself;
//   reduce      each owner adds the parts it owns, of all ranks in rank order (then over nodes),
//               into its own array and its staging memory;
//   collect     each rank copies the parts of the other owners into its array.
// In one step chunk k is contributed, chunk k-1 reduced and chunk k-2 collected, so each stage has
// two buffers. The price against SliceReducer is the copies in and out; it serves arrays that lie
// anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/node_barrier.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

class NodeExchange {
 public:
  explicit NodeExchange(const Topology& topology);  // collective over all ranks

  // Collective over all ranks of the topology it was made for; `data` has the same size on all.
  template <class T>
  void sum(const Topology& topology, std::span<T> data);

 private:
  NodeBarrier barrier_;
  std::size_t chunk_bytes_;
  NodeMemory staging_;
};

}  // namespace rubato::collectives
