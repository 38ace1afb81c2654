// What travels as factors, by counts of what would travel otherwise.
#include "optim/factor_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/communicator.hpp"

namespace rubato::optim {
namespace {

using collectives::Communicator;
using collectives::Slice;
using collectives::Topology;

constexpr std::size_t block = collectives::block_elements;

// The small one has no two blocks; of the others' whole blocks the ends are cut off.
std::vector<FactoredTensor> three_tensors() {
  return {{0, 0, 90, 91}, {2, 10 * block + 16, 200, 100}, {5, 20 * block - 32, 100, 100}};
}

std::vector<MinibatchRun> one_each(std::size_t ranks, std::size_t samples) {
  std::vector<MinibatchRun> runs;
  for (std::size_t rank = 0; rank < ranks; ++rank) runs.push_back({rank, samples});
  return runs;
}

class FactorPlanTest : public testing::Test {
 protected:
  std::vector<std::size_t> chosen(const FactorPlan& plan) {
    std::vector<std::size_t> numbers;
    for (const FactoredTensor& tensor : plan.tensors()) numbers.push_back(tensor.tensor);
    return numbers;
  }

  Communicator world = Communicator::world();
  std::size_t ranks = world.size();
};

// R nodes of one rank: R - 1 others' 300 or 200 numbers a sample, against half of 2 (R-1)/R of
// 20000 or 10000.
TEST_F(FactorPlanTest, TakesWhatIsLessThanHalfOfWhatASumSends) {
  const Topology nodes(world, 1);
  FactorPlan plan(nodes, three_tensors());
  for (std::size_t samples = 1; samples < 40; ++samples) {
    std::vector<std::size_t> expected;
    if (ranks > 1 && 200 * samples * ranks < 10'000) expected.push_back(5);
    if (ranks > 1 && 300 * samples * ranks < 20'000) expected.push_back(2);
    EXPECT_EQ(plan.make(one_each(ranks, samples), 5), !expected.empty());
    EXPECT_EQ(chosen(plan), expected) << samples;
  }
}

TEST_F(FactorPlanTest, GoesByTheNodeWithTheMostSamples) {
  if (ranks < 2) return;
  const Topology nodes(world, 1);
  FactorPlan plan(nodes, three_tensors());
  // The last rank's node sends all: R - 1 times as much as one of the others receives.
  const std::size_t most = (10'000 - 1) / 200 / ranks;
  for (const std::size_t samples : {most, most + 1}) {
    plan.make(std::vector<MinibatchRun>{{ranks - 1, samples}}, 4);
    EXPECT_EQ(std::ranges::count(chosen(plan), 5U), samples == most ? 1 : 0) << samples;
  }
}

TEST_F(FactorPlanTest, HasTheWholeBlocksOfItsTensors) {
  if (ranks < 2) return;
  const Topology nodes(world, 1);
  FactorPlan plan(nodes, three_tensors());
  ASSERT_TRUE(plan.make(one_each(ranks, 2), 5));
  const std::vector<Slice> expected = {{11 * block, 3 * block}, {20 * block, 2 * block}};
  EXPECT_TRUE(std::ranges::equal(plan.blocks(), expected));
  plan.clear();
  EXPECT_TRUE(plan.blocks().empty() && plan.tensors().empty() && plan.others().empty());
}

// Minibatch i goes to rank 3 i % R. Each comes to one rank of each other node, the one with its
// rank's number there.
TEST_F(FactorPlanTest, EveryOtherNodeMultipliesEachMinibatchOnce) {
  for (std::size_t per_node = 1; per_node < ranks; ++per_node) {
    const Topology nodes(world, per_node);
    FactorPlan plan(nodes, three_tensors());
    std::vector<MinibatchRun> runs;
    for (std::size_t i = 0; i < ranks + 1; ++i) runs.push_back({3 * i % ranks, 1 + i});
    ASSERT_TRUE(plan.make(runs, 100));
    std::vector<MinibatchRun> others;
    std::vector<MinibatchRun> mine;
    for (std::size_t sender = 0; sender < ranks; ++sender) {
      const std::size_t its_node = sender / per_node;
      const bool takes = its_node != nodes.node_index() &&
                         sender % per_node % nodes.node().size() == nodes.node().rank();
      for (const MinibatchRun& run : runs) {
        if (run.rank == sender && takes) others.push_back(run);
        if (run.rank == sender && sender == world.rank()) mine.push_back(run);
      }
    }
    EXPECT_TRUE(std::ranges::equal(plan.others(), others)) << per_node;
    EXPECT_TRUE(std::ranges::equal(plan.mine(), mine)) << per_node;
    EXPECT_EQ(plan.receivers().size(), nodes.node_count() - 1);
    for (const std::size_t receiver : plan.receivers()) {
      const std::size_t node = receiver / per_node;
      EXPECT_NE(node, nodes.node_index());
      EXPECT_EQ(receiver % per_node, nodes.node().rank() % nodes.ranks_per_node()[node]);
    }
  }
}

// On R nodes of one rank each has its own and R - 1 others.
TEST_F(FactorPlanTest, NeedsRoomForAllGradientsOfARank) {
  if (ranks < 2) return;
  const Topology nodes(world, 1);
  FactorPlan plan(nodes, three_tensors());
  EXPECT_TRUE(plan.make(one_each(ranks, 1), ranks));
  EXPECT_FALSE(plan.make(one_each(ranks, 1), ranks - 1));
  EXPECT_TRUE(plan.tensors().empty());
  std::vector<MinibatchRun> one_more = one_each(ranks, 1);
  one_more.push_back({0, 1});
  EXPECT_FALSE(plan.make(one_more, ranks));
  EXPECT_TRUE(plan.make(one_more, ranks + 1));
  EXPECT_FALSE(plan.make({}, ranks)) << "nobody says who runs what";
  // The first place of a rank that runs none takes results all the same.
  const std::vector<MinibatchRun> two_of_one_rank = {{1, 1}, {1, 1}};
  EXPECT_FALSE(plan.make(two_of_one_rank, 2));
  EXPECT_TRUE(plan.make(two_of_one_rank, 3));
}

}  // namespace
}  // namespace rubato::optim
