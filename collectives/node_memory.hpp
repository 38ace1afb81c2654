// Memory that all ranks of a node see.
//
// One region per rank of the node, each 64-byte aligned, zero at first, in huge pages where it is
// large and the system has some (mapped_memory.hpp). Ranks order their accesses with NodeBarrier.
// Allocation is refused on all ranks of the job alike where the directory that it is taken from has
// no room for it on some node: on file systems that keep what they promise it is taken at once. A
// node of one rank takes memory of its process alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "collectives/mapped_memory.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

// Where the memory of several ranks is taken from: RUBATO_SHARED_MEMORY, or else /dev/shm.
std::string shared_memory_directory();

// Moved from, it is empty. Each rank gives back its own view when it is done with it.
class NodeMemory {
 public:
  // Collective over all ranks. `bytes` may differ between ranks, 0 is legal. Throws AgreedFailure
  // (exit code 71) where the memory is missing, naming the directory and the setting that cures it,
  // the host unless all are alike, and what is free and what is needed unless others take it at the
  // same time.
  NodeMemory(const Topology& topology, std::size_t bytes);

  std::span<std::byte> region(std::size_t node_rank) const {  // that rank's region, as mapped here
    return regions_.at(node_rank);
  }

  template <class T>
  std::span<T> region_as(std::size_t node_rank) const {
    const auto bytes = region(node_rank);
    return {static_cast<T*>(static_cast<void*>(bytes.data())), bytes.size() / sizeof(T)};
  }

 private:
  MappedMemory memory_;
  std::vector<std::span<std::byte>> regions_;
};

}  // namespace rubato::collectives
