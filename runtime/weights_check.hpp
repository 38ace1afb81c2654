// Checks of the weights where a run ends or stops, before they are saved: what the last update did
// wrong no later gradient shows. Between, hosts are not compared: checkpoints of a run whose hosts
// differ may be wrong from any update on.
#pragma once

#include <cstdint>

#include "collectives/topology.hpp"
#include "runtime/replica.hpp"

namespace rubato::runtime {

bool has_finite_weights(const Replica& replica);  // those of this host

// Collective. Throws RunError, naming the update, on every rank if one host's weights are not
// finite.
void require_finite_weights(const Replica& replica, const collectives::Topology& topology,
                            std::uint64_t update);

// Collective. Each host has its own weights, which the same arithmetic has changed in the same way:
// throws RunError on every rank if they differ.
void require_same_weights(const Replica& replica, const collectives::Topology& topology,
                          std::uint64_t update);

}  // namespace rubato::runtime
