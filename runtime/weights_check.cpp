// One digest a host travels, not the weights.
#include "runtime/weights_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "collectives/agreement.hpp"
#include "runtime/errors.hpp"
#include "runtime/sha256.hpp"

namespace rubato::runtime {

bool has_finite_weights(const Replica& replica) {
  return std::ranges::all_of(replica.shared().parameters,
                             [](float weight) { return std::isfinite(weight); });
}

void require_finite_weights(const Replica& replica, const collectives::Topology& topology,
                            std::uint64_t update) {
  std::array<std::int64_t, 1> is_bad{has_finite_weights(replica) ? 0 : 1};
  topology.all().maximum(is_bad);
  if (is_bad[0] == 0) return;
  throw RunError("update " + std::to_string(update) +
                 ": the weights are not finite: training has diverged (a lower learning rate, or "
                 "a warm-up, may help)");
}

void require_same_weights(const Replica& replica, const collectives::Topology& topology,
                          std::uint64_t update) {
  if (topology.node_count() == 1) return;
  std::string digest;
  if (topology.node().rank() == 0) {
    digest = sha256(std::as_bytes(std::span<const float>(replica.shared().parameters)));
  }
  digest = topology.node().broadcast(digest, 0);
  try {
    collectives::require_same(topology.all(), {{"the weights' digest", digest}});
  } catch (const collectives::AgreedFailure& difference) {
    throw RunError("update " + std::to_string(update) + ": " + difference.what() +
                   ": hosts compute differently, and earlier checkpoints may be wrong too");
  }
}

}  // namespace rubato::runtime
