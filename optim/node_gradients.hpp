// What the ranks of a node have of an update's gradients, where all of them see it.
//
// A rank that runs one minibatch of an update leaves its gradient where the backward pass wrote it;
// whoever adds up a block rounds it on the way. Half the bytes of a sum in double, and one pass
// less. A rank that runs several adds them into the sums that the caller keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"
#include "optim/exact_units.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

class NodeGradients {
 public:
  enum class Form : std::uint64_t {
    nothing,   // it is idle
    gradient,  // one gradient, in its place here
    sums       // in its array
  };

  // Collective. `segments` and `units` must outlive this; the units are the same on all ranks.
  NodeGradients(const collectives::Topology& topology, const TensorSegments& segments,
                const ExactUnits& units, std::size_t total_elements);

  std::span<float> mine() const { return gradient_of(node_rank_); }
  // In which form this rank's part of the update is. The others may read it after a barrier or a
  // progress mark.
  void set_form(Form form) { form_of(node_rank_) = form; }

  // The sum over ranks first, first + 1, ... of the node, whose arrays are given, of the elements
  // [begin, begin + sums.size()), at most a block: of doubles exactly, of floats in rank order.
  template <class T>
  void add_up(std::size_t first, std::span<const T* const> arrays, std::size_t begin,
              std::span<T> sums) const;

 private:
  Form& form_of(std::size_t node_rank) const;
  std::span<float> gradient_of(std::size_t node_rank) const;

  const TensorSegments& segments_;
  const ExactUnits& units_;
  std::size_t node_rank_;
  collectives::NodeMemory memory_;  // per rank: a line with its form, its gradient
};

}  // namespace rubato::optim
