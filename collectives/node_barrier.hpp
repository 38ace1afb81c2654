// A barrier among the ranks of a node, in shared memory.
//
// Sense-reversing counter (Mellor-Crummey & Scott 1991, section 3.1, doi:10.1145/103727.103729). Waiting spins briefly, then
// yields: with more ranks than cores, endless spinning keeps the rank that is waited for off its core.
#pragma once

#include <cstddef>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

class NodeBarrier {
 public:
  explicit NodeBarrier(const Topology& topology);  // collective over the node

  // Returns when every rank of the node has called it. What they wrote before is visible after (release/acquire).
  void wait();

 private:
  NodeMemory memory_;
  std::size_t ranks_;
  bool sense_ = false;
};

}  // namespace rubato::collectives
