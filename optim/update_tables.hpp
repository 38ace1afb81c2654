// The numbers that ranks tell each other of an update beside its gradients: of each rank what it
// notes of itself, of each minibatch a slot, what the measures send; and the largest of all ranks:
// of each tensor's magnitudes, with a duration and a request.
//
// Within a node they stand where its ranks see them. Nodes add up their tables while their
// gradients are still on the way, so that most of what that takes on the network is hidden. An
// entry is written on one node and zero on the others, or a sum of what nodes have measured (of
// exact sums: exact in any order).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/pending_requests.hpp"
#include "collectives/topology.hpp"
#include "collectives/wait_until.hpp"

namespace rubato::optim {

// What a rank says of itself: numbers of the caller's, which travel along.
using RankNote = std::array<double, 3>;

struct MinibatchSlot {  // plain doubles, so that slots can be summed over the nodes
  double loss_sum;
  double samples;
  double correct;
  double gradient_square;  // squared norm of the gradient sum
  double audit;            // an integer below 2^52
  double weighed_square;   // squared norm in the optimizer's metric
};

class UpdateTables {
 public:
  // Collective. The topology must outlive this.
  UpdateTables(const collectives::Topology& topology, std::size_t tensors);
  UpdateTables(const UpdateTables&) = delete;
  UpdateTables& operator=(const UpdateTables&) = delete;

  // Collective, between updates: room for so many minibatches, and so many numbers of the
  // measures'.
  void allocate(std::size_t minibatches, std::size_t measured);
  std::size_t most_minibatches() const noexcept { return most_minibatches_; }

  // Of the update under way: its ranks write their own, and read all once they are combined and the
  // node has passed a barrier.
  std::span<RankNote> notes() const;
  std::span<MinibatchSlot> slots() const;
  // Those of the node's first rank alone.
  std::span<double> measured() const;
  // Bits of the largest |g| of each tensor, how long the update before took (0: not timed), and the
  // request, of a rank of the node. Once several
  // nodes are combined, the largest among the node's ranks are those of all nodes.
  std::span<std::int64_t> largest_of(std::size_t node_rank) const;

  // By the first rank of each node, when all that its ranks write of the update is final (on a
  // single node they may go on) and none reads the update before: begins to combine it with the
  // other nodes', of the slots the first `minibatches`. Never waits. Nobody may touch it until that
  // rank has finished.
  void begin_combining(std::size_t minibatches);
  // On any rank: waits for what this rank has begun, and completes the node's table and largest.
  void finish_combining();

  // The next update, whose table is all zeros.
  void turn() noexcept { current_ = 1 - current_; }

 private:
  void send(std::size_t minibatches);
  void exchange();
  void combine();
  std::span<double> table(std::size_t index) const;

  const collectives::Topology& topology_;
  collectives::Patience patience_;
  std::size_t tensors_;
  std::size_t most_minibatches_ = 0;
  std::size_t measured_ = 0;
  std::size_t current_ = 0;
  collectives::NodeMemory largest_memory_;
  // The first rank's region: two tables, used in turn; the other one is cleared meanwhile, so that
  // a node's table holds zeros where other nodes' ranks will have their say.
  collectives::NodeMemory memory_;
  std::optional<collectives::Communicator> few_;    // the nodes, if they are few
  std::vector<std::vector<double>> tables_of_few_;  // of each node, with its largest
  std::span<double> table_under_way_;               // until it is combined
  collectives::PendingRequests under_way_;
};

}  // namespace rubato::optim
