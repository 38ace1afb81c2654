// Memory that all ranks of a node see: an owner of an MPI_Win_allocate_shared window.
//
// One region per rank of the node, each 64-byte aligned, zero at first. Ranks order their accesses with NodeBarrier;
// MPI's own fences are not used. Allocation is refused, with a sentence that names the directory, its free space, the size
// needed and the setting that cures it, where /dev/shm (or osc_sm_backing_directory) is too small: later it would be SIGBUS.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "collectives/topology.hpp"

namespace rubato::collectives {

class NodeMemory {
 public:
  // Collective over the node. `bytes` may differ between ranks, 0 is legal.
  NodeMemory(const Topology& topology, std::size_t bytes);
  NodeMemory(NodeMemory&&) noexcept;             // the source is left empty
  NodeMemory& operator=(NodeMemory&&) noexcept;  // frees nothing collectively: the source and target swap
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  ~NodeMemory();  // frees the window (collective over the node, as MPI demands), unless MPI is finalized or unwinding

  std::span<std::byte> region(std::size_t node_rank) const;  // that rank's region, as mapped here

  template <class T>
  std::span<T> region_as(std::size_t node_rank) const {
    const auto bytes = region(node_rank);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  // One mapped region per rank of the node.
  struct Regions;
  Regions* regions_ = nullptr;
};

}  // namespace rubato::collectives
