// The update itself, on the slice that this rank owns: parameters by the optimizer, running
// statistics by a moving average.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "optim/gradient_sync.hpp"
#include "optim/optimizer.hpp"

namespace rubato::optim {

// What the update writes: one set per node, in memory that the node's ranks share. Every slice has
// one owner.
struct SharedState {
  std::span<float> parameters;  // total_elements: parameters, then running statistics
  std::vector<std::span<float>>
      optimizer_state;  // parameter_elements each, one per Optimizer::state_names()
};

// Updates this rank's slice from sync.mean_gradient(). Running statistics move as if each of the
// update's minibatches had moved them by its weight a, all with the mean of their statistics: z <-
// (1-a)^m z + (1 - (1-a)^m) s, one step an update whatever the ranks. The caller has called
// optimizer.begin_update(rate), and calls sync.barrier() before anyone reads.
void update_my_slice(const Optimizer<float>& optimizer, const GradientSync& sync,
                     std::size_t minibatches, const SharedState& state);

}  // namespace rubato::optim
