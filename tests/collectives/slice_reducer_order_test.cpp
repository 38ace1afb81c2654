// In which order floats are added, which a sum over other nodes must not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/slice_reducer.hpp"
#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

constexpr std::size_t count = 30'000;

class SliceReducerOrder : public testing::Test {
 protected:
  static std::size_t wrong_sums_of(const Topology& topology);
};

TEST_F(SliceReducerOrder, IsThatOfTheRanksWithinANodeAndOfTheNodes) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    EXPECT_EQ(wrong_sums_of(topology), 0);
  }
}

std::size_t SliceReducerOrder::wrong_sums_of(const Topology& topology) {
  NodeBarrier barrier(topology);
  const auto value = [](std::size_t rank, std::size_t i) {
    return std::sin(static_cast<float>(31 * rank + i)) *
           std::pow(10.0F, static_cast<float>((rank + i) % 4));
  };
  const auto summing =
      make_slice_reducer<float>(topology, barrier, count, AllreduceAlgorithm::node_shared);
  std::size_t wrong = 0;
  std::vector<float> results(summing->addends().size());
  const auto compare = [&](std::size_t begin, std::span<const float> block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      float expected = 0;
      for (std::size_t node = 0, rank = 0; node < topology.node_count(); ++node) {
        float of_node = value(rank++, begin + i);
        for (std::size_t more = 1; more < topology.ranks_per_node()[node]; ++more) {
          of_node += value(rank++, begin + i);
        }
        expected = node == 0 ? of_node : expected + of_node;
      }
      wrong += block[i] == expected ? 0U : 1U;
    }
    std::ranges::copy(block, results.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  summing->begin({compare, results, compare});
  for (std::size_t i = 0; i < summing->addends().size(); ++i) {
    summing->addends()[i] = value(topology.all().rank(), i);
  }
  summing->reduce();
  barrier.wait();
  return wrong;
}

}  // namespace
}  // namespace rubato::collectives
