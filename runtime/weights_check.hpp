// Checks of the weights before they are saved: what an update did wrong no later gradient may show.
#pragma once

#include <cstdint>

#include "collectives/topology.hpp"
#include "runtime/replica.hpp"

namespace rubato::runtime {

bool has_finite_weights(const Replica& replica);

// Throws RunError naming the update. All ranks of a node see the same weights.
void require_finite_weights(const Replica& replica, std::uint64_t update);

// Collective. Each host has its own weights, which the same arithmetic has changed in the same way:
// throws RunError on every rank if they differ.
void require_same_weights(const Replica& replica, const collectives::Topology& topology,
                          std::uint64_t update);

}  // namespace rubato::runtime
