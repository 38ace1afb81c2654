// Blocks of which each node comes to have all addends, so that they need no sum over the nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "collectives/addend_sum.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/slice_reducer.hpp"
#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

// Of two ranges of blocks each node has all addends by itself, once every rank of it has brought in
// its share: here what the first rank of each other node would have sent it.
TEST(SliceReducerComplete, BlocksAreFinishedOnEveryNodeWhenAllItsRanksHaveBroughtInTheirs) {
  constexpr std::size_t count = 41 * block_elements + 100;
  const std::vector<Slice> complete = {{2 * block_elements, 5 * block_elements},
                                       {20 * block_elements, 17 * block_elements}};
  const auto is_complete = [&](std::size_t at) {
    return std::ranges::any_of(complete,
                               [=](const Slice& s) { return at >= s.begin && at < s.end(); });
  };
  for (const Topology& topology : real_and_pretended_topologies()) {
    if (topology.node_count() == 1) continue;
    NodeBarrier barrier(topology);
    const NodeMemory memory(topology, sizeof(std::size_t));  // rounds in which a rank brought in
    const auto summing =
        make_slice_reducer<double>(topology, barrier, count, AllreduceAlgorithm::automatic);
    std::vector<float> results(count);
    const Slice slice = topology.my_slice(count);
    for (std::size_t round = 1; round < 5; ++round) {
      std::size_t finished = 0;
      std::size_t adopted = 0;
      int asked = 0;
      SumUse<double> use{.finish =
                             [&](std::size_t begin, std::span<const double> sums) {
                               finished += is_complete(begin) && round > 1 ? sums.size() : 0;
                               const std::size_t ranks = topology.all().size();
                               EXPECT_EQ(wrong_sums<double>(sums, ranks, begin), 0U)
                                   << "block at " << begin;
                               std::transform(sums.begin(), sums.end(),
                                              results.begin() + static_cast<std::ptrdiff_t>(begin),
                                              [](double sum) { return static_cast<float>(sum); });
                             },
                         .results = results,
                         .adopt =
                             [&](std::size_t begin, std::span<const float> theirs) {
                               adopted += is_complete(begin) ? theirs.size() : 0;
                             }};
      if (round > 1) {  // the first one sums all blocks over the nodes
        use.complete = complete;
        use.bring_in = [&] {
          if (++asked < 3) return false;
          memory.region_as<std::size_t>(topology.node().rank())[0] = round;
          return true;
        };
        use.add_up = [&](std::size_t, std::span<const double* const> addends, std::size_t begin,
                         std::span<double> sums) {
          sum_addends(addends, begin, sums.size(), sums.data());
          if (!is_complete(begin)) return;
          for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
            EXPECT_EQ(memory.region_as<std::size_t>(rank)[0], round) << "rank " << rank;
          }
          for (std::size_t rank = 0; rank < topology.all().size(); ++rank) {
            if (topology.places()[rank].node == topology.node_index()) continue;
            for (std::size_t i = 0; i < sums.size(); ++i) {
              sums[i] += pattern_value<double>(rank, begin + i);
            }
          }
        };
      }
      summing->begin(use);
      fill_with_pattern<double>(topology.all().rank(), summing->addends());
      summing->finished_from(0);
      std::this_thread::sleep_for(
          std::chrono::milliseconds(3 * ((topology.all().rank() + round) % 3)));
      summing->reduce();
      std::size_t mine = 0;
      for_each_block(slice, [&](std::size_t begin, std::size_t size) {
        mine += is_complete(begin) ? size : 0;
      });
      EXPECT_EQ(finished, round > 1 ? mine : 0U);
      if (round > 1) {
        EXPECT_EQ(adopted, 0U);
        EXPECT_EQ(asked, 3);
      }
      barrier.wait();
    }
  }
}

}  // namespace
}  // namespace rubato::collectives
