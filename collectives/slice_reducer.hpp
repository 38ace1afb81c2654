// The sum over all ranks, delivered where it is used: on each node, each slice owner receives its
// slice.
//
// Ranks write their addends straight into the reducer's memory. With the node-shared algorithm that
// memory is the node's, and owners read all addends of their slice directly, block by block,
// handing each summed block to the caller while it is in cache: no copy in, no copy out, no result
// array. On several nodes the caller makes results of most blocks on one of them, and the others
// get the results, which are fewer bytes than the sums; and what some ranks have finished early can
// travel while they work on the rest. The other algorithms sum a private array with allreduce().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "collectives/allreduce.hpp"
#include "collectives/host_exchange.hpp"
#include "collectives/node_barrier.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

// When what happened to addends in a rank's last sum, by steady_nanoseconds(); 0: it did not
// happen.
struct SumTimes {
  std::int64_t all_are_in = 0;     // the addends of all ranks of the node were final
  std::int64_t network_begin = 0;  // the first message between hosts was on its way
  std::int64_t network_end = 0;    // the last one had come
};

template <class T>  // float, double
class SliceReducer {
 public:
  virtual ~SliceReducer() = default;

  // This rank's addends: `count` elements, 64-byte aligned, zero at first. Free to write between
  // begin() and reduce(); once final, they stay until the end of reduce(), as does all else that
  // `use.add_up` reads. Before the next begin(), every rank of the node must have left reduce()
  // (callers have a barrier there anyway).
  virtual std::span<T> addends() = 0;
  // Whether the other ranks of the node can read them there.
  virtual bool shares_addends() const noexcept = 0;

  // Every rank begins each sum. `use` is told each block of this rank's slice once, in no promised
  // order, up to the end of reduce().
  virtual void begin(SumUse<T> use) = 0;

  // Whether finished_from() is of any use.
  virtual bool overlaps() const noexcept { return false; }

  // To be called as often as may be, with `from` that never rises within a sum: this rank's addends
  // from there on are final. Never waits; lets sums over hosts go on, so it may visit blocks.
  virtual void finished_from(std::size_t /*from*/) {}

  // Collective over all ranks, whose addends are all final. When it returns, every rank of the node
  // has called it (and written what else it shares). Ends without a barrier.
  virtual void reduce() = 0;
  const SumTimes& times() const noexcept { return times_; }

 protected:
  SumTimes times_;
};

// Collective. `topology` and `barrier` must outlive the reducer.
template <class T>
std::unique_ptr<SliceReducer<T>> make_slice_reducer(const Topology& topology, NodeBarrier& barrier,
                                                    std::size_t count,
                                                    AllreduceAlgorithm algorithm);

}  // namespace rubato::collectives
