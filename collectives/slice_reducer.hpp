// The sum over all ranks, delivered where it is used: each slice owner receives the sum of its
// slice.
//
// Ranks write their addends straight into the reducer's memory. With the node-shared algorithm that
// memory is the node's, and owners read all addends of their slice directly, block by block,
// handing each summed block to the caller while it is in cache: no copy in, no copy out, no result
// array. The other algorithms sum a private array with allreduce().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "collectives/allreduce.hpp"
#include "collectives/node_barrier.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

// Receives the sum of elements [begin, begin + block.size()); block.size() <= block_elements, begin
// a multiple of it.
template <class T>
using BlockVisitor = std::function<void(std::size_t begin, std::span<const T> block)>;

template <class T>  // float, double, std::int64_t
class SliceReducer {
 public:
  virtual ~SliceReducer() = default;

  // This rank's addends: `count` elements, 64-byte aligned, zero at first. Free to write until
  // reduce(), and again once every rank of the node has left reduce() (callers have a barrier there
  // anyway).
  virtual std::span<T> addends() = 0;

  // Collective over all ranks; every rank has finished writing its addends (and all else that it
  // shares) when the first visit begins. Visits the blocks of this rank's slice in order. Ends
  // without a barrier.
  virtual void reduce(const BlockVisitor<T>& visit) = 0;
};

// Collective. `topology` and `barrier` must outlive the reducer.
template <class T>
std::unique_ptr<SliceReducer<T>> make_slice_reducer(const Topology& topology, NodeBarrier& barrier,
                                                    std::size_t count,
                                                    AllreduceAlgorithm algorithm);

}  // namespace rubato::collectives
