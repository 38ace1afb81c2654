// Two reducers: one whose addends lie in the node's memory, and one that sums a private array.
#include "collectives/slice_reducer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "collectives/addend_sum.hpp"
#include "collectives/mpi_sum.hpp"
#include "collectives/node_memory.hpp"

namespace rubato::collectives {
namespace {

// Elements that cross the network in one call: long enough for its bandwidth, and still in the
// second-level cache when they are visited.
constexpr std::size_t network_elements = 16 * block_elements;

// Calls use(begin, size) for the consecutive pieces of a slice.
template <class Use>
void for_each_piece(const Slice& slice, std::size_t piece, const Use& use) {
  for (std::size_t begin = slice.begin; begin < slice.end(); begin += piece) {
    use(begin, std::min(piece, slice.end() - begin));
  }
}

template <class T>
class NodeSharedReducer final : public SliceReducer<T> {
 public:
  NodeSharedReducer(const Topology& topology, NodeBarrier& barrier, std::size_t count)
      : topology_(topology),
        barrier_(barrier),
        slice_(topology.my_slice(count)),
        memory_(topology, count * sizeof(T)) {
    for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
      addends_.push_back(memory_.template region_as<T>(rank).data());
    }
    if (topology.node_count() > 1) {
      network_sums_.resize(std::min(network_elements, slice_.size));
    }
  }

  std::span<T> addends() override { return memory_.template region_as<T>(topology_.node().rank()); }

  void reduce(const BlockVisitor<T>& visit) override {
    barrier_.wait();
    if (topology_.node_count() == 1) {
      reduce_on_node(visit);
    } else {
      reduce_across_nodes(visit);
    }
  }

 private:
  void reduce_on_node(const BlockVisitor<T>& visit) {
    alignas(64) std::array<T, block_elements> sums;
    for_each_piece(slice_, block_elements, [&](std::size_t begin, std::size_t size) {
      if (addends_.size() == 1) {
        return visit(begin, {addends_[0] + begin, size});
      }
      sum_addends<T>(addends_, begin, size, sums.data());
      visit(begin, {sums.data(), size});
    });
  }

  void reduce_across_nodes(const BlockVisitor<T>& visit) {
    for_each_piece(slice_, network_elements, [&](std::size_t begin, std::size_t size) {
      const Slice piece{begin, size};
      const std::span<T> sums = std::span(network_sums_).first(size);
      for_each_piece(piece, block_elements, [&](std::size_t block, std::size_t block_size) {
        sum_addends<T>(addends_, block, block_size, sums.data() + (block - begin));
      });
      mpi_sum(*topology_.across(), sums);
      for_each_piece(piece, block_elements, [&](std::size_t block, std::size_t block_size) {
        visit(block, sums.subspan(block - begin, block_size));
      });
    });
  }

  const Topology& topology_;
  NodeBarrier& barrier_;
  Slice slice_;
  NodeMemory memory_;
  std::vector<const T*> addends_;  // of each rank of the node
  std::vector<T> network_sums_;
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

  void reduce(const BlockVisitor<T>& visit) override {
    barrier_.wait();
    allreduce(topology_, addends_, algorithm_);
    for_each_piece(topology_.my_slice(addends_.size()), block_elements,
                   [&](std::size_t begin, std::size_t size) {
                     visit(begin, std::span<const T>(addends_.subspan(begin, size)));
                   });
  }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes{};
  };

  const Topology& topology_;
  NodeBarrier& barrier_;
  AllreduceAlgorithm algorithm_;
  std::vector<Line> lines_;
  std::span<T> addends_;
};

}  // namespace

template <class T>
std::unique_ptr<SliceReducer<T>> make_slice_reducer(const Topology& topology, NodeBarrier& barrier,
                                                    std::size_t count,
                                                    AllreduceAlgorithm algorithm) {
  const AllreduceAlgorithm chosen = chosen_algorithm(topology, algorithm, count * sizeof(T));
  if (chosen == AllreduceAlgorithm::node_shared) {
    return std::make_unique<NodeSharedReducer<T>>(topology, barrier, count);
  }
  return std::make_unique<PrivateReducer<T>>(topology, barrier, count, chosen);
}

template std::unique_ptr<SliceReducer<float>> make_slice_reducer(const Topology&, NodeBarrier&,
                                                                 std::size_t, AllreduceAlgorithm);
template std::unique_ptr<SliceReducer<double>> make_slice_reducer(const Topology&, NodeBarrier&,
                                                                  std::size_t, AllreduceAlgorithm);
template std::unique_ptr<SliceReducer<std::int64_t>> make_slice_reducer(const Topology&,
                                                                        NodeBarrier&, std::size_t,
                                                                        AllreduceAlgorithm);

}  // namespace rubato::collectives
