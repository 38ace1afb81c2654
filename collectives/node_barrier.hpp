// A barrier among the ranks of a node, in shared memory.
//
// Sense-reversing counter (Mellor-Crummey & Scott 1991, section 3.1, doi:10.1145/103727.103729).
// All ranks of the node touch one cache line: right for tens of ranks; hundreds would want a tree.
// How a rank waits, and when it gives its core away: wait_until.hpp.
#pragma once

#include <cstddef>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"
#include "collectives/wait_until.hpp"

namespace rubato::collectives {

// How the ranks of these nodes wait for each other.
Patience waiting_patience(const Topology& topology);

class NodeBarrier {
 public:
  explicit NodeBarrier(const Topology& topology);  // collective over all ranks

  // Returns when every rank of the node has called it. What they wrote before is visible after
  // (release/acquire).
  void wait();

 private:
  NodeMemory memory_;
  std::size_t ranks_;
  Patience patience_;
  bool sense_ = false;
};

}  // namespace rubato::collectives
