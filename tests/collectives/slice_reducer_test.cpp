#include "collectives/slice_reducer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "collectives/mpi_count.hpp"
#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

class SliceReducerBy : public testing::TestWithParam<std::string> {
 protected:
  template <class T>
  std::unique_ptr<SliceReducer<T>> reducer(const Topology& topology, NodeBarrier& barrier,
                                           std::size_t count) const {
    return make_slice_reducer<T>(topology, barrier, count, allreduce_algorithm(GetParam()));
  }

  // The blocks must be those of this rank's slice, in order, with the closed sum in them.
  template <class T>
  static void expect_my_slice(const Topology& topology, std::size_t count,
                              SliceReducer<T>& reducer) {
    const Slice slice = topology.my_slice(count);
    std::size_t next = slice.begin;
    reducer.reduce([&](std::size_t begin, std::span<const T> block) {
      EXPECT_EQ(begin, next);
      EXPECT_EQ(begin % block_elements, 0);
      EXPECT_EQ(block.size(), std::min(block_elements, slice.end() - begin));
      EXPECT_EQ(wrong_sums<T>(block, topology.all().size(), begin), 0);
      next = begin + block.size();
    });
    EXPECT_EQ(next, slice.end());
  }

  template <class T>
  void expect_slices() const {
    for (const Topology& topology : real_and_pretended_topologies()) {
      NodeBarrier barrier(topology);
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{17}, 3 * block_elements + 5, 20 * block_elements - 1}) {
        const auto summing = reducer<T>(topology, barrier, count);
        ASSERT_EQ(summing->addends().size(), count);
        fill_with_pattern<T>(topology.all().rank(), summing->addends());
        expect_my_slice<T>(topology, count, *summing);
        barrier.wait();
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Algorithms, SliceReducerBy, testing::ValuesIn(allreduce_algorithm_names()),
                         [](const auto& named) {
                           std::string name = named.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(SliceReducerBy, FloatsVisitsTheSumsOfMySlice) { expect_slices<float>(); }
TEST_P(SliceReducerBy, DoublesVisitsTheSumsOfMySlice) { expect_slices<double>(); }
TEST_P(SliceReducerBy, IntegersVisitsTheSumsOfMySlice) { expect_slices<std::int64_t>(); }

TEST_P(SliceReducerBy, AddendsAreAlignedAndZeroAtFirst) {
  const Topology& topology = real_topology();
  NodeBarrier barrier(topology);
  const auto summing = reducer<float>(topology, barrier, 5000);
  const std::span<float> addends = summing->addends();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(addends.data()) % 64, 0);
  EXPECT_EQ(std::ranges::count(addends, 0.0F), 5000);
}

TEST_P(SliceReducerBy, ManySumsInSuccessionAreIndependent) {
  constexpr std::size_t count = 5 * block_elements + 100;
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeBarrier barrier(topology);
    const auto summing = reducer<double>(topology, barrier, count);
    for (std::size_t round = 0; round < 10; ++round) {
      std::ranges::fill(summing->addends(),
                        static_cast<double>((round + 1) * (topology.all().rank() + 1)));
      const std::size_t ranks = topology.all().size();
      const auto expected = static_cast<double>((round + 1) * ranks * (ranks + 1) / 2);
      summing->reduce([&](std::size_t, std::span<const double> block) {
        EXPECT_EQ(std::ranges::count(block, expected), static_cast<std::ptrdiff_t>(block.size()));
      });
      barrier.wait();
    }
  }
}

TEST_P(SliceReducerBy, LongSlicesCrossNodesInSeveralCalls) {
  const ScopedMaxElementsPerCall limit(1000);
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeBarrier barrier(topology);
    const auto summing = reducer<float>(topology, barrier, 20'011);
    fill_with_pattern<float>(topology.all().rank(), summing->addends());
    expect_my_slice<float>(topology, 20'011, *summing);
    barrier.wait();
  }
}

TEST(SliceReducer, AddsInTheOrderOfTheRanksWithinANode) {
  const Topology& topology = real_topology();
  NodeBarrier barrier(topology);
  const auto value = [](std::size_t rank, std::size_t i) {
    return std::sin(static_cast<float>(31 * rank + i)) *
           std::pow(10.0F, static_cast<float>((rank + i) % 4));
  };
  const auto summing =
      make_slice_reducer<float>(topology, barrier, 30'000, AllreduceAlgorithm::node_shared);
  for (std::size_t i = 0; i < summing->addends().size(); ++i) {
    summing->addends()[i] = value(topology.all().rank(), i);
  }
  std::size_t wrong = 0;
  summing->reduce([&](std::size_t begin, std::span<const float> block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      float expected = value(0, begin + i);
      for (std::size_t rank = 1; rank < topology.all().size(); ++rank) {
        expected += value(rank, begin + i);
      }
      wrong += block[i] == expected ? 0U : 1U;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace rubato::collectives
