// Three reducers: one for the memory of a single node, one for several nodes, and one that sums a
// private array.
#include "collectives/slice_reducer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/addend_sum.hpp"
#include "collectives/clock_offset.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/progress_marks.hpp"
#include "collectives/wait_until.hpp"

namespace rubato::collectives {
namespace {

// The addends of a node's ranks, in memory that all of them see.
template <class T>
class NodeAddends {
 public:
  NodeAddends(const Topology& topology, std::size_t count)
      : memory_(topology, count * sizeof(T)), rank_(topology.node().rank()) {
    for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
      all_.push_back(memory_.template region_as<T>(rank).data());
    }
  }

  std::span<T> mine() const { return memory_.template region_as<T>(rank_); }
  std::span<const T* const> all() const { return all_; }

  // Makes the sum of a block, and results of it.
  void finish(const SumUse<T>& use, std::size_t begin, std::size_t size) const {
    alignas(64) std::array<T, block_elements> sums;
    sum(use.add_up, begin, {sums.data(), size});
    use.finish(begin, {sums.data(), size});
  }

  void sum(const AddUp<T>& add_up, std::size_t begin, std::span<T> sums) const {
    if (add_up) {
      add_up(0, all_, begin, sums);
    } else {
      sum_addends<T>(all_, begin, sums.size(), sums.data());
    }
  }

 private:
  NodeMemory memory_;
  std::size_t rank_;
  std::vector<const T*> all_;
};

template <class T>
class OneNodeReducer final : public SliceReducer<T> {
 public:
  OneNodeReducer(const Topology& topology, NodeBarrier& barrier, std::size_t count)
      : barrier_(barrier), slice_(topology.my_slice(count)), addends_(topology, count) {}

  std::span<T> addends() override { return addends_.mine(); }
  bool shares_addends() const noexcept override { return true; }
  void begin(SumUse<T> use) override { use_ = std::move(use); }

  void reduce() override {
    barrier_.wait();
    times_.all_are_in = steady_nanoseconds();
    if (use_.all_are_in) use_.all_are_in();
    for_each_block(slice_, [&](std::size_t begin, std::size_t size) {
      if (use_.make_block) return use_.make_block(addends_.all(), begin, size);
      addends_.finish(use_, begin, size);
    });
  }

 private:
  using SliceReducer<T>::times_;

  NodeBarrier& barrier_;
  Slice slice_;
  NodeAddends<T> addends_;
  SumUse<T> use_;
};

// A rank's steps of a sum: one for each element that it has finished, counted from the end, one
// when it has come to reduce(), and a last one when it has brought in what other nodes add to
// complete blocks.
template <class T>
class HostsReducer final : public SliceReducer<T> {
 public:
  HostsReducer(const Topology& topology, std::size_t count)
      : count_(count),
        slice_(topology.my_slice(count)),
        patience_(waiting_patience(topology)),
        addends_(topology, count),
        marks_(topology, last_step()) {
    if (topology.across()) exchange_.emplace(*topology.across(), slice_);
  }

  std::span<T> addends() override { return addends_.mine(); }
  bool shares_addends() const noexcept override { return true; }

  void begin(SumUse<T> use) override {
    times_ = {};
    marks_.begin_round();
    use_ = use;
    is_complete_ = use.complete.empty();
    has_brought_in_ = false;
    if (exchange_) exchange_->begin(std::move(use));
  }

  bool overlaps() const noexcept override { return true; }

  void finished_from(std::size_t from) override {
    marks_.reach(count_ - std::min(from, count_));
    if (exchange_) drain();
  }

  void reduce() override {
    marks_.reach(step_in_reduce());
    auto moved = std::chrono::steady_clock::now();
    while (!all_are_in() || !is_complete_ || (exchange_ && !exchange_->is_done())) {
      const auto now = std::chrono::steady_clock::now();
      const bool has_completed = !is_complete_ && (has_brought_in_ ? complete() : bring_in());
      if ((exchange_ && poll()) || has_completed) {
        moved = now;
      } else {
        give_way(patience_, now - moved);
      }
    }
  }

 private:
  using SliceReducer<T>::times_;

  std::size_t step_in_reduce() const { return count_ + 1; }
  std::size_t last_step() const { return count_ + 2; }

  bool all_are_in() {
    if (times_.all_are_in == 0 && marks_.have_all_reached(step_in_reduce())) {
      times_.all_are_in = steady_nanoseconds();
      if (use_.all_are_in) use_.all_are_in();
    }
    return times_.all_are_in != 0;
  }

  // Whether this rank has just brought in its share of complete blocks.
  bool bring_in() {
    has_brought_in_ = use_.bring_in();
    if (has_brought_in_) marks_.reach(last_step());
    return has_brought_in_;
  }

  // When all ranks have, finishes what complete blocks are in this rank's slice.
  bool complete() {
    if (!marks_.have_all_reached(last_step())) return false;
    for (const Slice& blocks : use_.complete) {
      const std::size_t begin = std::max(blocks.begin, slice_.begin);
      const std::size_t end = std::max(begin, std::min(blocks.end(), slice_.end()));
      for_each_block({begin, end - begin}, [this](std::size_t block, std::size_t size) {
        addends_.finish(use_, block, size);
        if (exchange_) poll();
      });
    }
    is_complete_ = true;
    return true;
  }

  // MPI takes about one message from the kernel each time that it is asked.
  void drain() {
    constexpr std::size_t patience = 2;  // times that nothing has come
    std::size_t in_vain = 0;
    do {
      in_vain = poll() ? 0 : in_vain + 1;
    } while (in_vain < patience && !exchange_->is_idle());
  }

  bool poll() {
    const bool has_begun = times_.network_begin != 0;
    const std::int64_t before = has_begun ? times_.network_begin : steady_nanoseconds();
    const bool has_moved = exchange_->poll(
        [this](const Slice& bucket) { return marks_.have_all_reached(count_ - bucket.begin); },
        [this](std::size_t begin, std::span<T> sums) { addends_.sum(use_.add_up, begin, sums); });
    if (has_moved) {
      times_.network_begin = before;
      times_.network_end = steady_nanoseconds();
    }
    return has_moved;
  }

  std::size_t count_;
  Slice slice_;
  Patience patience_;
  NodeAddends<T> addends_;
  ProgressMarks marks_;
  SumUse<T> use_;
  bool has_brought_in_ = false;
  bool is_complete_ = true;  // there is nothing left of what is complete on each node
  std::optional<HostExchange<T>> exchange_;  // of slice owners
};

template <class T>
class PrivateReducer final : public SliceReducer<T> {
 public:
  PrivateReducer(const Topology& topology, NodeBarrier& barrier, std::size_t count,
                 AllreduceAlgorithm algorithm)
      : topology_(topology),
        barrier_(barrier),
        algorithm_(algorithm),
        lines_((count * sizeof(T) + sizeof(Line) - 1) / sizeof(Line)),
        addends_(static_cast<T*>(static_cast<void*>(lines_.data())), count) {}

  std::span<T> addends() override { return addends_; }
  bool shares_addends() const noexcept override { return false; }
  void begin(SumUse<T> use) override { use_ = std::move(use); }

  void reduce() override {
    barrier_.wait();
    times_.all_are_in = steady_nanoseconds();
    if (use_.all_are_in) use_.all_are_in();
    if (use_.add_up) gather_addends();
    const std::int64_t before = steady_nanoseconds();
    allreduce(topology_, addends_, algorithm_);
    if (topology_.node_count() > 1) {
      times_.network_begin = before;
      times_.network_end = steady_nanoseconds();
    }
    for_each_block(topology_.my_slice(addends_.size()), [&](std::size_t begin, std::size_t size) {
      use_.finish(begin, std::span<const T>(addends_.subspan(begin, size)));
    });
  }

 private:
  using SliceReducer<T>::times_;

  void gather_addends() {
    const std::array<const T*, 1> mine{addends_.data()};
    alignas(64) std::array<T, block_elements> sums;
    for_each_block({0, addends_.size()}, [&](std::size_t begin, std::size_t size) {
      use_.add_up(topology_.node().rank(), mine, begin, {sums.data(), size});
      std::ranges::copy(std::span(sums).first(size), addends_.subspan(begin).begin());
    });
  }

  struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
  };

  const Topology& topology_;
  NodeBarrier& barrier_;
  AllreduceAlgorithm algorithm_;
  std::vector<Line> lines_;
  std::span<T> addends_;
  SumUse<T> use_;
};

}  // namespace

template <class T>
std::unique_ptr<SliceReducer<T>> make_slice_reducer(const Topology& topology, NodeBarrier& barrier,
                                                    std::size_t count,
                                                    AllreduceAlgorithm algorithm) {
  if (algorithm != AllreduceAlgorithm::automatic && algorithm != AllreduceAlgorithm::node_shared) {
    return std::make_unique<PrivateReducer<T>>(topology, barrier, count, algorithm);
  }
  if (topology.node_count() == 1) {
    return std::make_unique<OneNodeReducer<T>>(topology, barrier, count);
  }
  return std::make_unique<HostsReducer<T>>(topology, count);
}

template std::unique_ptr<SliceReducer<float>> make_slice_reducer(const Topology&, NodeBarrier&,
                                                                 std::size_t, AllreduceAlgorithm);
template std::unique_ptr<SliceReducer<double>> make_slice_reducer(const Topology&, NodeBarrier&,
                                                                  std::size_t, AllreduceAlgorithm);

}  // namespace rubato::collectives
