// A replica: one rank's copy of the model's machinery, on weights that the node holds once.
//
// Weights and optimizer state lie in node-shared memory, in the first rank's region: every rank
// reads them, or a copy of them, each slice is written by its owner. Minibatches arrive through a
// prefetcher.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"
#include "data/prefetcher.hpp"
#include "nn/model.hpp"
#include "optim/gradient_sync.hpp"
#include "optim/slice_update.hpp"

namespace rubato::runtime {

class Replica {
 public:
  // Collective. Fills the weights with the model's initial values for the seed, the optimizer state
  // with zeros.
  Replica(const collectives::Topology& topology, std::unique_ptr<nn::Model> model,
          std::vector<std::string> optimizer_state_names, std::uint64_t seed);

  // Runs a minibatch forward and backward: `gradient` then holds the sum over its samples.
  // `is_final_from` hears from the model which part of it does already, `take_factors` what some of
  // it is made of.
  nn::MinibatchLoss run(const data::LoadedMinibatch& loaded, std::span<float> gradient,
                        nn::IsFinalFrom is_final_from = {}, nn::TakeFactors take_factors = {});

  // To be called on every rank after the node's weights have changed (and a barrier has passed).
  void use_new_weights() { use_weights(shared_.parameters); }
  // Computes with these from now on: the node's, or a copy of them.
  void use_weights(std::span<const float> weights);
  std::span<const float> weights() const noexcept { return weights_; }

  nn::Model& model() noexcept { return *model_; }
  const nn::Layout& layout() const noexcept { return model_->layout(); }
  const optim::SharedState& shared() const noexcept { return shared_; }
  const std::vector<std::string>& optimizer_state_names() const noexcept { return state_names_; }

 private:
  std::unique_ptr<nn::Model> model_;
  std::vector<std::string> state_names_;
  std::uint64_t seed_;
  collectives::NodeMemory memory_;
  optim::SharedState shared_;
  std::span<const float> weights_;
};

// The model's layout in the terms of the gradient sync.
std::vector<optim::TensorRange> tensor_ranges(const nn::Layout& layout);

// Collective. The sum of gradients of this layout. The topology must outlive it.
std::unique_ptr<optim::GradientSync> make_gradient_sync(
    const collectives::Topology& topology, const nn::Layout& layout,
    optim::SumKind kind = optim::SumKind::exact,
    collectives::AllreduceAlgorithm algorithm = collectives::AllreduceAlgorithm::automatic);

}  // namespace rubato::runtime
