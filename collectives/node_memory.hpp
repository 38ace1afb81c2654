// Memory that all ranks of a node see: an owner of an MPI_Win_allocate_shared window.
//
// One region per rank of the node, each 64-byte aligned, zero at first. Ranks order their accesses
// with NodeBarrier; MPI's own fences are not used. Allocation is refused on all ranks of the job
// alike where the directory that backs windows (/dev/shm, or osc_sm_backing_directory) is too small
// on some node: later it would be a bus error. A node of one rank gets ordinary memory from MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "collectives/topology.hpp"

namespace rubato::collectives {

class NodeMemory {
 public:
  // Collective over all ranks. `bytes` may differ between ranks, 0 is legal. Throws AgreedFailure
  // (exit code 71) where the memory is missing, naming host, directory, free and needed bytes and
  // the setting that cures it.
  NodeMemory(const Topology& topology, std::size_t bytes);
  NodeMemory(NodeMemory&&) noexcept;             // the source is left empty
  NodeMemory& operator=(NodeMemory&&) noexcept;  // source and target swap: nothing is freed yet
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  // Frees the window: collective over the node, as MPI demands. Leaves it to the end of the process
  // if MPI is finalized or an exception is under way, because then the other ranks may not come.
  ~NodeMemory();

  std::span<std::byte> region(std::size_t node_rank) const;  // that rank's region, as mapped here

  template <class T>
  std::span<T> region_as(std::size_t node_rank) const {
    const auto bytes = region(node_rank);
    return {static_cast<T*>(static_cast<void*>(bytes.data())), bytes.size() / sizeof(T)};
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  // One mapped region per rank of the node.
  struct Regions;
  Regions* regions_ = nullptr;
};

}  // namespace rubato::collectives
