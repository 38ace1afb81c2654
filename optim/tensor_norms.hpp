// Squared norms of each parameter tensor, where all ranks of a node see them: of its weights, of
// its mean gradient, and of the direction that an optimizer makes.
//
// Each is noted segment by segment, by the owner of the slice that the segment lies in, and added
// in the segments' order by whoever asks: no bit depends on how the slices are cut, or on how many
// ranks or nodes there are. A node's barrier stands between noting and asking.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

class TensorNorms {
 public:
  // Collective. `segments` must outlive this.
  TensorNorms(const collectives::Topology& topology, const TensorSegments& segments);

  // The mean gradient's parameters from `begin` on, at most a norm block, whose squared norm is
  // known already: most blocks are one segment.
  void note_gradient(std::size_t begin, std::span<const float> mean, double square);
  void note_direction(std::size_t segment, double square);
  // Of the weights after the update under way. They count from turn() on, so that the ranks may
  // still ask for the ones before; every rank calls it once an update.
  void note_new_weights(std::size_t segment, double square);
  void turn() { turn_ = 1 - turn_; }

  // Of a whole tensor, by its number.
  double gradient(std::size_t tensor) const;
  double direction(std::size_t tensor) const;
  double weights(std::size_t tensor) const;

  // The segments of a tensor are first_of(tensor), ..., first_of(tensor + 1) - 1.
  std::size_t first_of(std::size_t tensor) const { return first_of_[tensor]; }
  std::size_t tensors() const noexcept { return first_of_.size() - 1; }

 private:
  enum Kind : std::size_t { of_gradient, of_direction, of_weights };  // these twice, in turns
  std::span<double> squares(std::size_t kind) const;
  double sum(std::size_t kind, std::size_t tensor) const;

  const TensorSegments& segments_;
  std::vector<std::size_t> first_of_;
  std::size_t turn_ = 0;
  collectives::NodeMemory memory_;  // the first rank's region: the kinds, one after the other
};

}  // namespace rubato::optim
