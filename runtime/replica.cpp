// Weights first, then the optimizer's buffers, each from a 64-byte boundary on, in one region of
// the node's memory.
#include "runtime/replica.hpp"

#include <utility>

#include "collectives/node_barrier.hpp"

namespace rubato::runtime {

namespace {

std::size_t shared_bytes(const collectives::Topology& topology, const nn::Layout& layout,
                         std::size_t optimizer_buffers) {
  if (topology.node().rank() != 0) return 0;
  return sizeof(float) *
         (layout.total_elements() + optimizer_buffers * layout.parameter_elements());
}

}  // namespace

Replica::Replica(const collectives::Topology& topology, std::unique_ptr<nn::Model> model,
                 std::vector<std::string> optimizer_state_names, std::uint64_t seed)
    : model_(std::move(model)),
      state_names_(std::move(optimizer_state_names)),
      seed_(seed),
      memory_(topology, shared_bytes(topology, model_->layout(), state_names_.size())) {
  const nn::Layout& layout = model_->layout();
  std::span<float> rest = memory_.region_as<float>(0);
  shared_.parameters = rest.first(layout.total_elements());
  rest = rest.subspan(layout.total_elements());
  for (std::size_t i = 0; i < state_names_.size(); ++i) {
    shared_.optimizer_state.push_back(rest.first(layout.parameter_elements()));
    rest = rest.subspan(layout.parameter_elements());
  }
  if (topology.node().rank() == 0) model_->initialize(shared_.parameters, seed);
  topology.node().barrier();
  use_new_weights();
}

nn::MinibatchLoss Replica::run(const data::LoadedMinibatch& loaded, std::span<float> gradient,
                               nn::IsFinalFrom is_final_from, nn::TakeFactors take_factors) {
  const nn::MinibatchKey key{seed_, loaded.minibatch.epoch, loaded.minibatch.index};
  return model_->gradient(
      {loaded.inputs, loaded.labels, key, std::move(is_final_from), std::move(take_factors)},
      gradient);
}

void Replica::use_weights(std::span<const float> weights) {
  weights_ = weights;
  model_->use_parameters(weights);
}

std::vector<optim::TensorRange> tensor_ranges(const nn::Layout& layout) {
  std::vector<optim::TensorRange> ranges;
  for (const nn::TensorInfo& tensor : layout.tensors()) {
    ranges.push_back({tensor.name, tensor.offset, tensor.size, tensor.is_parameter, tensor.momentum,
                      tensor.shape.size() == 1});
  }
  return ranges;
}

std::unique_ptr<optim::GradientSync> make_gradient_sync(const collectives::Topology& topology,
                                                        const nn::Layout& layout,
                                                        optim::SumKind kind,
                                                        collectives::AllreduceAlgorithm algorithm) {
  return std::make_unique<optim::GradientSync>(topology, tensor_ranges(layout),
                                               layout.parameter_elements(), layout.total_elements(),
                                               kind, algorithm);
}

}  // namespace rubato::runtime
