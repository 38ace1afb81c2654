// Which ranks share a node ("host"), and how a flat buffer is cut into slices that they own.
//
// Decision: the node is what MPI_Comm_split_type(MPI_COMM_TYPE_SHARED) says; environment variables
// differ between mpirun and srun.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/communicator.hpp"

namespace rubato::collectives {

class NodeExchange;

// Elements in the unit from which slices are made and in which norms are summed.
inline constexpr std::size_t block_elements = 4096;

// A range of elements of a flat buffer.
struct Slice {
  std::size_t begin = 0;
  std::size_t size = 0;
  std::size_t end() const noexcept { return begin + size; }
  bool operator==(const Slice&) const = default;
};

// Calls use(begin, size) for the blocks of a slice that begins with one, in order.
template <class Use>
void for_each_block(const Slice& slice, const Use& use) {
  for (std::size_t begin = slice.begin; begin < slice.end(); begin += block_elements) {
    use(begin, std::min(block_elements, slice.end() - begin));
  }
}

// Part `index` of `parts` nearly equal parts of `count` elements, in whole grains (the last grain
// may be short). Throws std::invalid_argument unless index < parts and grain > 0.
Slice slice_of(std::size_t count, std::size_t index, std::size_t parts,
               std::size_t grain = block_elements);

// A rank's node, and its number on it.
struct RankPlace {
  std::size_t node = 0;
  std::size_t rank = 0;
  bool operator==(const RankPlace&) const = default;
};

class Topology {
 public:
  explicit Topology(const Communicator& all);  // collective

  // Collective. Pretends that each `ranks_per_node` consecutive ranks are a node of their own, so
  // that one host can test and measure what several would do. Ranks that really are on different
  // hosts may not be put together: std::invalid_argument, on all ranks.
  Topology(const Communicator& all, std::size_t ranks_per_node);

  const Communicator& all() const noexcept { return all_; }    // every rank (a duplicate)
  const Communicator& node() const noexcept { return node_; }  // the ranks of this node
  // The ranks with this rank's number on their nodes; only the slice owners (below) have one.
  const std::optional<Communicator>& across() const noexcept { return across_; }

  std::size_t node_index() const noexcept { return node_index_; }
  std::size_t node_count() const noexcept { return ranks_per_node_.size(); }
  const std::vector<std::size_t>& ranks_per_node() const noexcept { return ranks_per_node_; }
  // Where each rank of all() is.
  const std::vector<RankPlace>& places() const noexcept { return places_; }
  const std::vector<std::string>& hosts() const noexcept { return hosts_; }  // name of each node

  // More ranks on this host than cores that they may run on: whoever waits must give way.
  bool is_oversubscribed() const noexcept { return is_oversubscribed_; }

  // Slices are owned by the first slice_owners() ranks of each node: as many as the smallest node
  // has ranks, so that slice i has an owner on every node.
  std::size_t slice_owners() const noexcept { return slice_owners_; }
  bool owns_slice() const noexcept { return node_.rank() < slice_owners_; }
  Slice my_slice(std::size_t count) const;  // empty if this rank owns none

  // Collective over all ranks when first called: the memory through which allreduce() passes the
  // arrays of the ranks of a node. Made once, because all ranks must come to make it.
  NodeExchange& node_exchange() const;

 private:
  Topology(const Communicator& all, Communicator host, Communicator node);

  Communicator all_;
  Communicator node_;
  std::optional<Communicator> across_;
  std::size_t node_index_ = 0;
  std::size_t slice_owners_ = 1;
  bool is_oversubscribed_ = false;
  std::vector<std::size_t> ranks_per_node_;
  std::vector<RankPlace> places_;
  std::vector<std::string> hosts_;
  mutable std::shared_ptr<NodeExchange> node_exchange_;
};

}  // namespace rubato::collectives
