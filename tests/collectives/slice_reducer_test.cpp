#include "collectives/slice_reducer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <thread>

#include "collectives/addend_sum.hpp"
#include "collectives/clock_offset.hpp"
#include "collectives/mpi_count.hpp"
#include "collectives/node_memory.hpp"
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

  // Every block of this rank's slice must come once: either its closed sum, of which a result is
  // made, or the result that another host has made of it.
  template <class T>
  static void expect_my_slice(
      const Topology& topology, std::size_t count, SliceReducer<T>& reducer,
      const std::function<void()>& before_reducing = [] {}) {
    const Slice slice = topology.my_slice(count);
    std::vector<float> results(count);
    std::vector<std::size_t> visits((count + block_elements - 1) / block_elements);
    const auto expect_block = [&](std::size_t begin, std::size_t size) {
      ASSERT_EQ(begin % block_elements, 0);
      ASSERT_TRUE(begin >= slice.begin && begin < slice.end());
      EXPECT_EQ(size, std::min(block_elements, slice.end() - begin));
      ++visits[begin / block_elements];
    };
    const auto finish = [&](std::size_t begin, std::span<const T> sums) {
      expect_block(begin, sums.size());
      EXPECT_EQ(wrong_sums<T>(sums, topology.all().size(), begin), 0);
      std::ranges::transform(sums, results.begin() + static_cast<std::ptrdiff_t>(begin),
                             [](T sum) { return static_cast<float>(sum); });
    };
    const auto adopt = [&](std::size_t begin, std::span<const float> theirs) {
      expect_block(begin, theirs.size());
      EXPECT_EQ(wrong_sums<float>(theirs, topology.all().size(), begin), 0);
    };
    reducer.begin({finish, results, adopt});
    fill_with_pattern<T>(topology.all().rank(), reducer.addends());
    before_reducing();
    reducer.reduce();
    for (std::size_t block = 0; block < visits.size(); ++block) {
      const bool is_mine =
          block * block_elements >= slice.begin && block * block_elements < slice.end();
      EXPECT_EQ(visits[block], is_mine ? 1 : 0) << "block " << block << " of " << visits.size();
    }
  }

  template <class T>
  void expect_slices() const {
    for (const Topology& topology : real_and_pretended_topologies()) {
      NodeBarrier barrier(topology);
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{17}, 3 * block_elements + 5, 70 * block_elements - 1}) {
        const auto summing = reducer<T>(topology, barrier, count);
        ASSERT_EQ(summing->addends().size(), count);
        for (int round = 0; round < 3; ++round) {
          expect_my_slice<T>(topology, count, *summing);
          barrier.wait();
        }
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
    std::vector<float> results(count);
    for (std::size_t round = 0; round < 10; ++round) {
      const std::size_t ranks = topology.all().size();
      const auto expected = static_cast<double>((round + 1) * ranks * (ranks + 1) / 2);
      const auto is_wrong = [=](auto value) { return static_cast<double>(value) != expected; };
      summing->begin({[&](std::size_t begin, std::span<const double> sums) {
                        EXPECT_EQ(std::ranges::count_if(sums, is_wrong), 0);
                        std::fill_n(results.begin() + static_cast<std::ptrdiff_t>(begin),
                                    sums.size(), static_cast<float>(expected));
                      },
                      results,
                      [&](std::size_t, std::span<const float> theirs) {
                        EXPECT_EQ(std::ranges::count_if(theirs, is_wrong), 0);
                      }});
      std::ranges::fill(summing->addends(),
                        static_cast<double>((round + 1) * (topology.all().rank() + 1)));
      summing->reduce();
      barrier.wait();
    }
  }
}

// Where one node's memory has all there is, and nowhere else.
TEST_P(SliceReducerBy, OnOneNodeTheCallerMayMakeBlocksByItself) {
  constexpr std::size_t count = 5 * block_elements + 100;
  const auto algorithm = allreduce_algorithm(GetParam());
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeBarrier barrier(topology);
    const auto summing = reducer<double>(topology, barrier, count);
    std::vector<float> results(count);
    std::size_t told = 0;
    std::size_t made = 0;
    std::size_t finished = 0;
    fill_with_pattern<double>(topology.all().rank(), summing->addends());
    summing->begin(
        {.finish = [&](std::size_t, std::span<const double> sums) { finished += sums.size(); },
         .results = results,
         .adopt = [&](std::size_t, std::span<const float> theirs) { finished += theirs.size(); },
         .all_are_in =
             [&] {
               ++told;
               if (topology.node_count() == 1) {
                 EXPECT_EQ(made + finished, 0U);
               }
             },
         .make_block =
             [&](std::span<const double* const> addends, std::size_t begin, std::size_t size) {
               EXPECT_EQ(addends.size(), topology.node().size());
               std::vector<double> sums(size);
               sum_addends(addends, begin, size, sums.data());
               EXPECT_EQ(wrong_sums<double>(sums, topology.all().size(), begin), 0);
               made += size;
             }});
    summing->reduce();
    const std::size_t mine = topology.my_slice(count).size;
    const bool by_caller =
        topology.node_count() == 1 && (algorithm == AllreduceAlgorithm::automatic ||
                                       algorithm == AllreduceAlgorithm::node_shared);
    EXPECT_EQ(told, 1U);
    EXPECT_EQ(made, by_caller ? mine : 0U);
    EXPECT_EQ(finished, by_caller ? 0U : mine);
    barrier.wait();
  }
}

// No rank is told before the last one of its node has come, whatever the algorithm.
TEST_P(SliceReducerBy, EveryRankIsToldWhenTheAddendsOfItsNodeAreFinal) {
  constexpr std::size_t count = 3 * block_elements;
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeBarrier barrier(topology);
    const NodeMemory memory(topology, sizeof(std::size_t));
    const auto summing = reducer<double>(topology, barrier, count);
    std::vector<float> results(count);
    const std::size_t rank = topology.node().rank();
    for (std::size_t round = 1; round < 4; ++round) {
      std::vector<std::size_t> come;
      summing->begin({.finish = [](std::size_t, std::span<const double>) {},
                      .results = results,
                      .adopt = [](std::size_t, std::span<const float>) {},
                      .all_are_in =
                          [&] {
                            for (std::size_t other = 0; other < topology.node().size(); ++other) {
                              come.push_back(memory.region_as<std::size_t>(other)[0]);
                            }
                          }});
      summing->finished_from(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * ((rank + round) % 3)));
      memory.region_as<std::size_t>(rank)[0] = round;
      summing->reduce();
      EXPECT_EQ(come, std::vector<std::size_t>(topology.node().size(), round));
      barrier.wait();
    }
  }
}

TEST_P(SliceReducerBy, LongArraysTravelInSeveralCalls) {
  const ScopedMaxElementsPerCall limit(1000);
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeBarrier barrier(topology);
    const auto summing = reducer<float>(topology, barrier, 20'011);
    expect_my_slice<float>(topology, 20'011, *summing);
    barrier.wait();
  }
}

// Ranks finish their addends in pieces of different sizes, some not before reduce(), in which the
// others are waiting already: no sum may begin with what is not there yet.
TEST_P(SliceReducerBy, WhatIsFinishedEarlyMayBeSummedEarly) {
  constexpr std::size_t count = 60 * block_elements + 1000;
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeBarrier barrier(topology);
    const auto summing = reducer<double>(topology, barrier, count);
    const std::size_t rank = topology.all().rank();
    const auto algorithm = allreduce_algorithm(GetParam());
    EXPECT_EQ(summing->overlaps(),
              topology.node_count() > 1 && (algorithm == AllreduceAlgorithm::automatic ||
                                            algorithm == AllreduceAlgorithm::node_shared));
    for (std::size_t round = 0; round < 4; ++round) {
      const auto finish_in_pieces = [&] {
        if ((rank + round) % 3 == 2) return;
        const std::vector<double> whole = pattern<double>(rank, count);
        const std::span<double> addends = summing->addends();
        std::ranges::fill(addends, 1e9);  // what is not final is not read
        for (std::size_t end = count, piece = 1500 * (rank + 1); end > 0;) {
          const std::size_t begin = end - std::min(end, piece);
          std::copy(whole.begin() + static_cast<std::ptrdiff_t>(begin),
                    whole.begin() + static_cast<std::ptrdiff_t>(end),
                    addends.begin() + static_cast<std::ptrdiff_t>(begin));
          summing->finished_from(begin);
          end = begin;
        }
      };
      const std::int64_t before = steady_nanoseconds();
      expect_my_slice<double>(topology, count, *summing, finish_in_pieces);
      const SumTimes& times = summing->times();
      EXPECT_GT(times.all_are_in, before);
      const bool uses_network =
          summing->overlaps() ? topology.across().has_value() : topology.node_count() > 1;
      EXPECT_EQ(times.network_begin > before, uses_network);
      EXPECT_EQ(times.network_end > times.network_begin, uses_network);
      barrier.wait();
    }
  }
}

// A backward pass that only ever says what it has finished: messages move meanwhile.
TEST_P(SliceReducerBy, WhatIsFinishedEarlyIsSummedBeforeReduce) {
  constexpr std::size_t count = 30 * block_elements;
  for (const Topology& topology : real_and_pretended_topologies()) {
    NodeBarrier barrier(topology);
    const auto summing = reducer<double>(topology, barrier, count);
    if (!summing->overlaps()) continue;
    std::size_t finished = 0;
    fill_with_pattern<double>(topology.all().rank(), summing->addends());
    std::vector<float> results(count);
    summing->begin(
        {.finish = [&](std::size_t, std::span<const double> sums) { finished += sums.size(); },
         .results = results,
         .adopt = [&](std::size_t, std::span<const float> theirs) { finished += theirs.size(); }});
    const std::size_t mine = topology.my_slice(count).size;
    std::array<double, 1> missing{1};
    for (int turn = 0; turn < 20'000 && missing[0] > 0; ++turn) {
      summing->finished_from(0);
      missing[0] = static_cast<double>(mine - finished);
      topology.all().maximum(missing);
    }
    EXPECT_EQ(missing[0], 0);
    const std::int64_t before = steady_nanoseconds();
    summing->reduce();
    EXPECT_EQ(finished, mine);
    EXPECT_GE(summing->times().all_are_in, before);
    EXPECT_EQ(summing->times().network_begin > 0, mine > 0);
    EXPECT_LT(summing->times().network_begin, before);
    barrier.wait();
  }
}

}  // namespace
}  // namespace rubato::collectives
