// Which gradients of an update travel between nodes as factors, and whose.
//
// The gradient of a dense layer's weight, outputs x inputs, is made of samples x (outputs + inputs)
// numbers for each minibatch: "sufficient factors" (Xie et al., Distributed Machine Learning via
// Sufficient Factor Broadcasting, 2015; chosen layer by layer, by what is to be sent, as in Zhang
// et al., Poseidon, arXiv:1706.03292). With few nodes of few minibatches these are far fewer than
// what a sum over the nodes sends. Each node then multiplies the other nodes' factors itself.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/topology.hpp"

namespace rubato::optim {

struct FactoredTensor {
  std::size_t tensor = 0;  // its number
  std::size_t begin = 0;   // in the flat buffers
  std::size_t outputs = 0;
  std::size_t inputs = 0;

  std::size_t size() const noexcept { return outputs * inputs; }
};

// Who runs a minibatch, and how large it is.
struct MinibatchRun {
  std::size_t rank = 0;
  std::size_t samples = 0;
  bool operator==(const MinibatchRun&) const = default;
};

class FactorPlan {
 public:
  // `tensors` in the order of their places. The topology must outlive this.
  FactorPlan(const collectives::Topology& topology, std::vector<FactoredTensor> tensors);

  // Plans an update that has these minibatches. A rank multiplies, of each other node, the factors
  // of the ranks with its number there (modulo its node's ranks), and has room for `most_gradients`
  // in all. Whether anything travels as factors: where these are fewer than half as many numbers on
  // every node's link as a sum's, as multiplying them takes time, too.
  bool make(std::span<const MinibatchRun> runs, std::size_t most_gradients);
  void clear();

  // Tensors whose gradients travel as factors, the last one first.
  std::span<const FactoredTensor> tensors() const noexcept { return chosen_; }
  // Minibatches of other nodes that this rank multiplies: by rank, each rank's in their order.
  std::span<const MinibatchRun> others() const noexcept { return others_; }
  // This rank's own, and who multiplies them: one rank of each other node.
  std::span<const MinibatchRun> mine() const noexcept { return mine_; }
  std::span<const std::size_t> receivers() const noexcept { return receivers_; }
  // The whole blocks of the tensors' elements, in ascending order.
  std::span<const collectives::Slice> blocks() const noexcept { return blocks_; }

 private:
  std::size_t receiver(std::size_t node, std::size_t sender) const;
  bool have_room(std::span<const MinibatchRun> runs, std::size_t most_gradients);
  bool is_worth_it(const FactoredTensor& tensor, std::size_t most_samples) const;
  std::size_t most_samples_on_a_link(std::span<const MinibatchRun> runs);

  const collectives::Topology& topology_;
  std::vector<FactoredTensor> all_;
  std::vector<std::vector<std::size_t>> ranks_of_node_;
  std::vector<std::size_t> receivers_;
  std::vector<std::size_t> senders_;    // whose minibatches this rank multiplies, ascending
  std::vector<std::size_t> gradients_;  // of each rank, in have_room()
  std::vector<std::size_t> samples_;    // of each node, in most_samples_on_a_link()
  std::vector<FactoredTensor> chosen_;
  std::vector<MinibatchRun> mine_;
  std::vector<MinibatchRun> others_;
  std::vector<collectives::Slice> blocks_;
};

}  // namespace rubato::optim
