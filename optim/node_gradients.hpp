// What the ranks of a node have of an update's gradients, where all of them see it.
//
// A rank leaves the last gradients of an update, one or two, where the backward pass wrote them;
// whoever adds up a block rounds them on the way. Half the bytes of a sum in double, and a pass
// less. Those before them it adds into the sums that the caller keeps, an array for each rank. A
// rank of so few gradients that it needs no sums has further places for them in that array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"
#include "optim/exact_units.hpp"
#include "optim/gradient_passes.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

// Hears of gradients that are seen for the first time while they are added up.
class FirstSight {
 public:
  virtual ~FirstSight() = default;
  // A segment of a minibatch's gradient: in cache, or before it is written over.
  virtual void show(std::size_t segment, std::size_t slot, std::span<const float> gradient,
                    bool is_in_cache) = 0;
  // Its squared norm; and the largest magnitude among all minibatches' segments, as bits.
  virtual void see(std::size_t segment, std::size_t slot, double square) = 0;
  virtual void see_largest(std::size_t segment, std::uint32_t bits) = 0;
};

class NodeGradients {
 public:
  static constexpr std::size_t own_places = 2;
  static constexpr std::size_t most_places = own_places + sizeof(double) / sizeof(float);
  struct Parts {
    std::size_t gradients = 0;  // in the first so many places
    bool has_sums = false;      // in its array: then only the own places hold gradients
    std::size_t others = 0;     // of other nodes' minibatches, from place first_other() on: only
                                // the blocks that are shared
    std::array<std::size_t, most_places> slots = {};  // of gradients that nobody has looked at
  };

  // Where gradients of other nodes' minibatches begin, after so many of the rank's own: not in the
  // first place, which also takes results.
  static constexpr std::size_t first_other(std::size_t gradients) {
    return gradients == 0 ? 1 : gradients;
  }

  // Collective. `segments` and `units` must outlive this; the units are the same on all ranks.
  NodeGradients(const collectives::Topology& topology, const TensorSegments& segments,
                const ExactUnits& units, std::size_t total_elements);

  // How many places a rank has whose array of sums has so many bytes.
  std::size_t places_with(std::size_t sums_bytes) const {
    return own_places + sums_bytes / first_place().size_bytes();
  }
  // `sums`: this rank's array.
  std::span<float> place(std::size_t which, float* sums) const;
  std::span<float> first_place() const { return place(0, nullptr); }
  // Copies a gradient that this rank has computed elsewhere into a place of its own, past the cache
  // what other ranks will add up.
  void hand_over(std::span<const float> gradient, std::span<float> place) const;
  // Whole blocks, the same on all ranks of the node, in which ranks also have gradients of other
  // nodes' minibatches. Kept to the next call.
  void share_blocks(std::span<const collectives::Slice> blocks) { shared_blocks_ = blocks; }
  // What this rank has of the update. The others may read it after a barrier or a progress mark.
  void set_parts(Parts parts) { parts_of(node_rank_) = parts; }

  // The sum over ranks first, first + 1, ... of the node, whose arrays are given, of the elements
  // [begin, begin + sums.size()), at most a block: of doubles exactly, of floats first the arrays
  // and then the gradients, in rank order.
  template <class T>
  void add_up(std::size_t first, std::span<const T* const> arrays, std::size_t begin,
              std::span<T> sums) const;

  // Whether take_mean() can be had: all there is are gradients, at most most_in_place.
  bool can_take_mean() const;
  // The mean of a block, from the sum over the node's ranks, whose arrays are given, without
  // writing that: times `per_sample`, of running statistics times `per_minibatch`. Returns the
  // squared norm of the parameters' mean. T: what is added in.
  template <class T>
  double take_mean(std::span<const T* const> arrays, std::size_t begin, std::span<float> mean,
                   T per_sample, T per_minibatch) const;
  // The same of gradients that nobody has looked at; of more than most_in_place, of the first.
  template <class T>
  double look_and_take_mean(std::span<const T* const> arrays, std::size_t begin,
                            std::span<float> mean, T per_sample, T per_minibatch,
                            FirstSight& sight) const;

 private:
  // Gradients in their places, in rank order; the slots are of those that nobody has looked at.
  struct InPlace {
    std::array<const float*, most_in_place> gradients = {};
    std::array<std::size_t, most_in_place> slots = {};
    std::size_t count = 0;

    auto at(std::size_t begin) const {
      auto from = gradients;
      for (std::size_t i = 0; i < count; ++i) from[i] += begin;
      return from;
    }
  };

  Parts& parts_of(std::size_t node_rank) const;
  template <class T>
  InPlace all_in_place(std::span<const T* const> arrays) const;
  bool is_of_parameter(const Segment& segment) const;
  template <class Float>
  Float* gradient_of(std::size_t node_rank, std::size_t which, Float* sums) const;
  bool is_shared(std::size_t begin) const;
  // Calls use(gradient) for those of ranks first, first + 1, ..., in order, that have the block
  // which begins there.
  template <class T, class Use>
  void for_each_gradient(std::size_t first, std::span<const T* const> arrays, std::size_t begin,
                         const Use& use) const;

  const TensorSegments& segments_;
  const ExactUnits& units_;
  std::size_t node_rank_;
  std::size_t node_ranks_;
  std::size_t total_elements_;
  collectives::Slice my_slice_;
  std::span<const collectives::Slice> shared_blocks_;
  collectives::NodeMemory memory_;  // per rank: a line with its parts, its own places
};

}  // namespace rubato::optim
