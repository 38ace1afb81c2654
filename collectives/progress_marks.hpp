// How far each rank of a node has come, for others of the node to see without meeting.
//
// A mark is one number in shared memory that only grows: rounds are counted on, so that the mark of
// a rank which is still in the round before says just that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

class ProgressMarks {
 public:
  // Collective over all ranks. A round has steps 1 ... `steps`.
  ProgressMarks(const Topology& topology, std::size_t steps);

  void begin_round();  // local; every rank begins every round
  // This rank has come to that step of its round. What it wrote before is visible to whoever sees
  // the mark, stores past the cache included. Steps may be left out; lower ones change nothing.
  void reach(std::size_t step);
  bool have_all_reached(std::size_t step) const;  // every rank of the node, in this rank's round

 private:
  std::uint64_t mark_of(std::size_t step) const { return round_ * (steps_ + 1) + step; }

  NodeMemory memory_;
  std::size_t rank_;
  std::size_t ranks_;
  std::uint64_t steps_;
  std::uint64_t round_ = 0;
  std::uint64_t mine_ = 0;
};

}  // namespace rubato::collectives
