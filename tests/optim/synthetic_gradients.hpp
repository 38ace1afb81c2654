// Gradients with closed forms, for tests of what happens to them: three tensors that cross blocks
// and end in padding, the last one a running statistic.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "optim/gradient_sync.hpp"

namespace rubato::optim {

inline constexpr std::size_t parameter_elements = 3 * 4096 + 1024;
inline constexpr std::size_t total_elements = parameter_elements + 4096;

inline std::vector<TensorRange> tensors() {
  return {{"first.weight", 0, 5000, true, 0},
          {"first.bias", 5008, parameter_elements - 5008 - 3, true, 0},
          {"norm.running_mean", parameter_elements, 4090, false, 0.1}};
}

// To which of them an element belongs, with the padding behind it.
inline std::size_t tensor_of(std::size_t element) {
  if (element >= parameter_elements) return 2;
  return element < 5008 ? 0 : 1;
}

// Samples of minibatch `slot`: uneven, 4 ... 10.
inline std::size_t samples_of(std::size_t slot) { return 4 + slot * 3 % 7; }

// Samples of the first `minibatches` of them.
inline std::size_t samples_in(std::size_t minibatches) {
  std::size_t samples = 0;
  for (std::size_t slot = 0; slot < minibatches; ++slot) samples += samples_of(slot);
  return samples;
}

// The rank that a minibatch is dealt to, in a way that depends on `deal`.
inline std::size_t dealt_to(std::size_t slot, std::size_t deal,
                            const collectives::Topology& topology) {
  return (slot * (deal + 1) + deal) % topology.all().size();
}

// The minibatches of this rank.
inline std::vector<std::size_t> dealt(std::size_t minibatches, std::size_t deal,
                                      const collectives::Topology& topology) {
  std::vector<std::size_t> mine;
  for (std::size_t slot = 0; slot < minibatches; ++slot) {
    if (dealt_to(slot, deal, topology) == topology.all().rank()) mine.push_back(slot);
  }
  return mine;
}

// How many the rank with the most of them has.
inline std::size_t most_dealt(std::size_t minibatches, std::size_t deal,
                              const collectives::Topology& topology) {
  std::vector<std::size_t> counts(topology.all().size());
  for (std::size_t slot = 0; slot < minibatches; ++slot) ++counts[dealt_to(slot, deal, topology)];
  return *std::ranges::max_element(counts);
}

// The gradient sum of minibatch `slot`, padding zero.
inline std::vector<float> gradient_sum(std::size_t slot, float magnitude = 1) {
  std::vector<float> gradient(total_elements, 0.0F);
  for (const TensorRange& tensor : tensors()) {
    for (std::size_t i = tensor.begin; i < tensor.begin + tensor.size; ++i) {
      const auto phase = static_cast<float>(i % 1009) * 0.37F + static_cast<float>(slot) * 1.7F;
      gradient[i] = magnitude * (std::sin(phase) + 0.1F * static_cast<float>(slot % 5));
    }
  }
  return gradient;
}

// The mean gradient of all slices, put together from their owners on the first node. Collective.
inline std::vector<double> whole_mean(const GradientSync& sync,
                                      const collectives::Topology& topology) {
  std::vector<double> mean(total_elements, 0.0);
  const collectives::Slice slice = sync.my_slice();
  if (topology.node_index() == 0) {
    for (std::size_t i = slice.begin; i < slice.end(); ++i) mean[i] = sync.mean_gradient()[i];
  }
  topology.all().sum(mean);
  return mean;
}

inline double loss_of(std::size_t slot) { return 1.5 + 0.1 * static_cast<double>(slot); }

inline GradientSync automatic_sync(const collectives::Topology& topology, SumKind kind) {
  return {topology,       tensors(), parameter_elements,
          total_elements, kind,      collectives::AllreduceAlgorithm::automatic};
}

}  // namespace rubato::optim
