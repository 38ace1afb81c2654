// What is sent is counted in numbers: all of them have four bytes, or about as many packed.
#include "optim/factor_plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rubato::optim {

FactorPlan::FactorPlan(const collectives::Topology& topology, std::vector<FactoredTensor> tensors)
    : topology_(topology),
      all_(std::move(tensors)),
      ranks_of_node_(topology.node_count()),
      gradients_(topology.all().size()),
      samples_(topology.node_count()) {
  for (std::size_t rank = 0; rank < topology.places().size(); ++rank) {
    ranks_of_node_[topology.places()[rank].node].push_back(rank);
  }
  for (std::size_t node = 0; node < topology.node_count(); ++node) {
    if (node == topology.node_index()) continue;
    receivers_.push_back(receiver(node, topology.all().rank()));
    for (const std::size_t rank : ranks_of_node_[node]) {
      if (receiver(topology.node_index(), rank) == topology.all().rank()) senders_.push_back(rank);
    }
  }
  std::ranges::sort(senders_);
  chosen_.reserve(all_.size());
  blocks_.reserve(all_.size());
}

std::size_t FactorPlan::receiver(std::size_t node, std::size_t sender) const {
  const std::vector<std::size_t>& ranks = ranks_of_node_[node];
  return ranks[topology_.places()[sender].rank % ranks.size()];
}

void FactorPlan::clear() {
  chosen_.clear();
  mine_.clear();
  others_.clear();
  blocks_.clear();
}

bool FactorPlan::make(std::span<const MinibatchRun> runs, std::size_t most_gradients) {
  clear();
  if (!have_room(runs, most_gradients)) return false;
  const std::size_t most_samples = most_samples_on_a_link(runs);
  for (auto tensor = all_.rbegin(); tensor != all_.rend(); ++tensor) {
    if (is_worth_it(*tensor, most_samples)) chosen_.push_back(*tensor);
  }
  if (chosen_.empty()) return false;
  for (auto tensor = chosen_.rbegin(); tensor != chosen_.rend(); ++tensor) {
    constexpr std::size_t block = collectives::block_elements;
    const std::size_t begin = (tensor->begin + block - 1) / block * block;
    const std::size_t end = (tensor->begin + tensor->size()) / block * block;
    blocks_.push_back({begin, end - begin});
  }
  const auto take = [&](std::size_t rank, std::vector<MinibatchRun>& to) {
    std::ranges::copy_if(runs, std::back_inserter(to),
                         [=](const MinibatchRun& run) { return run.rank == rank; });
  };
  take(topology_.all().rank(), mine_);
  for (const std::size_t sender : senders_) take(sender, others_);
  return true;
}

// The first place is where results go: other nodes' gradients, which fill more than shared blocks,
// are never there.
bool FactorPlan::have_room(std::span<const MinibatchRun> runs, std::size_t most_gradients) {
  if (runs.empty() || runs.size() > most_gradients * gradients_.size()) return false;
  std::ranges::fill(gradients_, 0);
  for (const MinibatchRun& run : runs) ++gradients_[run.rank];
  for (std::size_t& gradients : gradients_) gradients = std::max(gradients, std::size_t{1});
  for (const MinibatchRun& run : runs) {
    for (std::size_t node = 0; node < topology_.node_count(); ++node) {
      if (node != topology_.places()[run.rank].node) ++gradients_[receiver(node, run.rank)];
    }
  }
  return std::ranges::max(gradients_) <= most_gradients;
}

// A node sends its own minibatches' factors to each other one, and receives all the others'.
std::size_t FactorPlan::most_samples_on_a_link(std::span<const MinibatchRun> runs) {
  std::ranges::fill(samples_, 0);
  std::size_t all = 0;
  for (const MinibatchRun& run : runs) {
    samples_[topology_.places()[run.rank].node] += run.samples;
    all += run.samples;
  }
  std::size_t most = 0;
  for (const std::size_t samples : samples_) {
    most = std::max({most, (topology_.node_count() - 1) * samples, all - samples});
  }
  return most;
}

// A sum sends and receives 2 (H-1)/H of the elements on each of H nodes (host_exchange.hpp): less
// than half of that.
bool FactorPlan::is_worth_it(const FactoredTensor& tensor, std::size_t most_samples) const {
  if (tensor.size() < 2 * collectives::block_elements) return false;  // may have no whole block
  const std::size_t nodes = topology_.node_count();
  const std::size_t factors = most_samples * (tensor.outputs + tensor.inputs);
  return factors * nodes < (nodes - 1) * tensor.size();
}

}  // namespace rubato::optim
