// Updates of a small model whose tensors share blocks and cross slices, for tests of optimizers
// that step tensor by tensor.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/node_memory.hpp"
#include "optim/slice_update.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {

// The places of synthetic_gradients.hpp, cut into more tensors.
inline std::vector<TensorRange> layered_tensors() {
  return {{"a.weight", 0, 5000, true, 0},
          {"a.bias", 5008, 32, true, 0, /*is_vector=*/true},
          {"b.weight", 5040, parameter_elements - 5040 - 3, true, 0},
          {"norm.running_mean", parameter_elements, 4090, false, 0.1}};
}

inline std::vector<OptimizerOptions> layerwise_options() {
  std::vector<OptimizerOptions> all;
  for (const std::string& form : lars_form_names()) {
    for (const double momentum : {0.0, 0.9}) {
      OptimizerOptions lars{.name = "lars", .momentum = momentum, .weight_decay = 0.01};
      lars.lars_form = lars_form(form);
      lars.trust = 0.1;
      all.push_back(lars);
    }
  }
  all.push_back({.name = "lamb", .weight_decay = 0.01, .epsilon = 1e-6});
  return all;
}

// Node-shared parameters, at closed forms, and the optimizer's state, zero.
class LayeredRun {
 public:
  LayeredRun(const collectives::Topology& topology, const OptimizerOptions& options)
      : topology_(topology),
        optimizer_(make_optimizer<float>(options)),
        memory_(topology, topology.node().rank() == 0 ? floats() * sizeof(float) : 0),
        sync_(topology, layered_tensors(), parameter_elements, total_elements, SumKind::exact,
              collectives::AllreduceAlgorithm::automatic) {
    std::span<float> rest = memory_.region_as<float>(0);
    state_.parameters = rest.first(total_elements);
    rest = rest.subspan(total_elements);
    for (std::size_t i = 0; i < optimizer_->state_names().size(); ++i) {
      state_.optimizer_state.push_back(rest.subspan(i * parameter_elements, parameter_elements));
    }
    if (topology.node().rank() == 0) {
      for (const TensorRange& tensor : layered_tensors()) {
        for (std::size_t i = tensor.begin; i < tensor.begin + tensor.size; ++i) {
          state_.parameters[i] = 0.1F + 0.01F * static_cast<float>(i % 101);
        }
      }
    }
    topology.node().barrier();
    take_up();
  }

  // As a run does that goes on: nothing is known of the weights but what lies in memory.
  void take_up() { update_.emplace(*optimizer_, sync_, state_); }

  // Sums three minibatches, dealt to the ranks in turn, and updates.
  void update(const UpdateRate& rate) {
    constexpr std::size_t minibatches = 3;
    const collectives::Communicator& all = topology_.all();
    UpdateSums sums;
    sums.stands = false;
    while (!sums.stands) {
      sync_.begin(minibatches, 8 * minibatches);
      for (std::size_t slot = all.rank(); slot < minibatches; slot += all.size()) {
        sync_.accumulate({slot, 8, 0, 0}, gradient_sum(slot + 10 * updates_));
      }
      sums = sync_.sum();
      if (!sums.stands) sync_.barrier();
    }
    update_->prepare(rate, minibatches);
    update_->run();
    sync_.barrier();
    ++updates_;
  }

  // Parameters, running statistics and the optimizer's state.
  std::vector<float> everything() const {
    std::vector<float> all(state_.parameters.begin(), state_.parameters.end());
    for (const std::span<float>& buffer : state_.optimizer_state) {
      all.insert(all.end(), buffer.begin(), buffer.end());
    }
    return all;
  }

  GradientSync& sync() { return sync_; }
  std::span<const float> parameters() const { return state_.parameters; }

 private:
  std::size_t floats() const {
    return total_elements + optimizer_->state_names().size() * parameter_elements;
  }

  const collectives::Topology& topology_;
  std::unique_ptr<Optimizer<float>> optimizer_;
  collectives::NodeMemory memory_;
  GradientSync sync_;
  SharedState state_;
  std::optional<SliceUpdate> update_;
  std::size_t updates_ = 0;
};

}  // namespace rubato::optim
