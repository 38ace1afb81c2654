// The share of an update's minibatches that takes longest, which is how long the update computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rubato::optim {

// The ranks that an update runs on.
struct Allocation {
  std::size_t hosts = 1;
  std::size_t ranks = 1;
  // Of each rank, its time for a minibatch over the ranks' mean; empty: all alike.
  std::vector<double> slowness = {};
  // Minibatches go to the rank that would be done first; if false, each gets as many, and the low
  // ranks what is left over.
  bool shared_by_speed = false;
};

// Throws std::invalid_argument unless there are ranks, no more hosts than ranks, and for each rank
// or none a slowness from 0.001 to 1000.
void check(const Allocation& allocation);

// In substeps of a rank of slowness 1: max over ranks of its minibatches times its slowness.
double longest_share(const Allocation& allocation, std::uint64_t minibatches);

}  // namespace rubato::optim
