// A rank's own copy of its node's weights: to compute with, and to step its slice of.
//
// What one core has written another must fetch, and what another has read is slow to write again
// (collectives/copy_over). Who computes with the weights that the node shares pays for that
// wherever a pass over them happens to be. With a copy, a rank reads the others' slices once, in
// order, and what it overwrites in the node's weights it does not read.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/mapped_memory.hpp"
#include "collectives/topology.hpp"

namespace rubato::optim {

class OwnWeights {
 public:
  // Of more, a copy lies in no cache of the core, and what it brings is less than it costs.
  static constexpr std::size_t most_bytes = std::size_t{16} << 20U;

  // Of the node's weights, at least one, and the slice of them that the rank owns. Nothing is
  // copied yet.
  OwnWeights(std::span<const float> shared, collectives::Slice mine);

  // The copy of a block of `shared` that lies in the rank's slice.
  std::span<float> of(std::span<const float> block) const;
  // Copy the slice that the rank owns, and those of others.
  void take_mine();
  void take_others();
  std::span<float> all() const { return own_; }

 private:
  void take(std::size_t begin, std::size_t end);

  std::span<const float> shared_;
  collectives::Slice mine_;
  collectives::MappedMemory memory_;
  std::span<float> own_;
};

}  // namespace rubato::optim
