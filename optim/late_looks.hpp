// What the owners of slices see of an update's gradients, where no rank has looked at its own.
//
// Where an update has so few minibatches that all their gradients stay where they were computed,
// owners see each element of them anyway: its norms and magnitudes are taken while it is added up,
// and a pass is saved. Owners note them by minibatch and segment, where the node's ranks see them;
// after a barrier every rank adds them up in the order in which it would have taken them itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"
#include "optim/gradient_measures.hpp"
#include "optim/node_gradients.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

class LateLooks final : public FirstSight {
 public:
  // Collective. `segments` must outlive this.
  LateLooks(const collectives::Topology& topology, const TensorSegments& segments);

  // A new update. Largest magnitudes go to `largest`, by tensor; `measures`, if there are any,
  // weigh.
  void begin(std::span<std::int64_t> largest, const GradientMeasures* measures);

  void show(std::size_t segment, std::size_t slot, std::span<const float> gradient,
            bool is_in_cache) override;
  void see(std::size_t segment, std::size_t slot, double square) override;
  void see_largest(std::size_t segment, std::uint32_t bits) override;

  // Of a minibatch's gradient, once the owners have passed a barrier: its squared norm; and that in
  // the optimizer's metric.
  double square(std::size_t slot) const;
  double weighed_square(std::size_t slot) const;

 private:
  enum Kind : std::size_t { plain, weighed };
  std::span<double> squares(Kind kind, std::size_t slot) const;  // of each segment

  const TensorSegments& segments_;
  collectives::NodeMemory memory_;  // the first rank's region: of each slot, both kinds
  std::span<std::int64_t> largest_;
  const GradientMeasures* measures_ = nullptr;
};

}  // namespace rubato::optim
