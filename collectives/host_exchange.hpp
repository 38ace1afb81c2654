// Sums over hosts that go on beside other work: between the owners of one slice, one per host.
//
// The slice is cut into buckets (bucket_order.hpp), each bucket into one part per host. Every host
// sends each other host its addends of that host's part, adds up its own part in the order of the
// hosts, makes the results of it, and sends those to all: two steps, and per host 2 (H-1)/H of what
// there is, the least possible. Of a short bucket (of one block; on two hosts of one part's length)
// every host sends its addends to all, and each adds them up: one step instead of two, in which no
// link carries more numbers than that of the host that would do it for all. Several buckets are
// under way at once.
//
// Nothing here waits, and no thread but the caller's talks to MPI: messages move when poll() is
// called, and meanwhile through the kernel's buffers. Therefore they are short enough for MPI to
// send them at once (eagerly): a longer one first asks the receiver for permission, who may not be
// looking for a while.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {

// Receives elements [begin, begin + block.size()); block.size() <= block_elements, begin a multiple
// of it.
template <class T>
using BlockVisitor = std::function<void(std::size_t begin, std::span<const T> block)>;

// Writes the sum over ranks first, first + 1, ... of the node, whose arrays of addends are given,
// of the elements [begin, begin + sums.size()), at most a block.
template <class T>
using AddUp = std::function<void(std::size_t first, std::span<const T* const> addends,
                                 std::size_t begin, std::span<T> sums)>;

// How a sum is made and what becomes of it. Each block is visited once on each host: finished where
// it is added up (short buckets on every host, which make the same of them), adopted everywhere
// else. Either may write over this rank's addends of its block, of no other.
template <class T>
struct SumUse {
  BlockVisitor<T> finish;          // makes results of a block's sum, at the same place of
  std::span<const float> results;  // the whole array, unchanged until the sum has ended
  BlockVisitor<float> adopt = {};  // takes in a block of results of another host
  // If set, makes the sum of a node's addends of a block; otherwise their arrays are added.
  AddUp<T> add_up = {};
  // If set, told once on each rank, when the addends of all ranks of its node are final; where
  // these are all ranks, before the first block.
  std::function<void()> all_are_in = {};
  // Of several nodes: whole blocks, in ascending order and the same on all ranks, of which each
  // node comes to have all addends without a sum over the nodes. They are finished on every node,
  // when `bring_in` has said true on all of its ranks. It is asked again and again in reduce(),
  // never waits, and sees to it that this rank's share of what other nodes add is among what
  // `add_up` reads. The slices stay to the end of the sum.
  std::span<const Slice> complete = {};
  std::function<bool()> bring_in = {};
  // If set, on one node: makes the results of a block of `size` elements, in place of the others.
  std::function<void(std::span<const T* const> addends, std::size_t begin, std::size_t size)>
      make_block = {};
};

template <class T>  // float, double
class HostExchange {
 public:
  // A host's own addends: writes the elements [begin, begin + sums.size()), at most a block.
  using NodeSum = std::function<void(std::size_t begin, std::span<T> sums)>;
  using IsReady = std::function<bool(const Slice& bucket)>;

  // Collective over `across`, whose ranks are the hosts, in order.
  HostExchange(const Communicator& across, const Slice& slice);
  // Addends that are still under way keep their memory; results are sent from the caller's, which
  // must outlive them.
  ~HostExchange();
  HostExchange(const HostExchange&) = delete;
  HostExchange& operator=(const HostExchange&) = delete;

  // A new sum, after the last one is done. `use` is kept; its complete blocks are left out.
  void begin(SumUse<T> use);
  // Starts buckets whose addends are ready, and carries on those under way. Returns whether
  // anything has moved. What node_sum reads of a ready bucket stays until its block is finished.
  bool poll(const IsReady& is_ready, const NodeSum& node_sum);
  bool is_done() const noexcept { return left_ == buckets_.size(); }
  bool is_idle() const noexcept { return left_ == started_; }  // nothing is under way

 private:
  struct Flight;  // a bucket under way

  Flight& flight(std::size_t bucket) { return *flights_[bucket % flights_.size()]; }
  void cut(std::span<const Slice> left_out);
  Slice part(const Slice& bucket, std::size_t host) const;
  bool is_for_all(const Slice& bucket) const;
  Slice added_up_by(std::size_t host, const Slice& bucket) const;
  Slice results_from(std::size_t host, const Slice& bucket) const;
  void start(std::size_t bucket, const NodeSum& node_sum);
  std::span<const std::byte> pack_addends(const Slice& slice, const NodeSum& node_sum,
                                          std::span<std::byte> room);
  void add_up(Flight& flight, const NodeSum& node_sum);
  void send_results(Flight& flight);
  void adopt_results(Flight& flight);

  Communicator hosts_;
  Slice slice_;
  std::vector<std::size_t> others_;  // all hosts but this one
  std::vector<Slice> left_out_;
  std::vector<Slice> buckets_;
  std::vector<std::unique_ptr<Flight>> flights_;  // bucket b uses flight b % size
  std::vector<T> sums_;                           // of one block
  std::vector<T> addends_;
  std::vector<const std::byte*>
      packed_;  // of each host, from its next block on; null: to be summed
  SumUse<T> use_;
  // How many buckets have come so far. All hosts take them in the same order, and messages between
  // two hosts keep theirs, so that only the first that has not come so far need be asked about.
  std::size_t started_;
  std::size_t added_;    // addends have come, results have been sent
  std::size_t adopted_;  // results have come
  std::size_t left_;     // all messages have left
};

}  // namespace rubato::collectives
