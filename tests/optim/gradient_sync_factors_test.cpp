// Updates whose gradients travel as factors, or now and then do, against those of one rank alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/gradient_sync.hpp"
#include "tests/optim/factored_gradients.hpp"

namespace rubato::optim::factored {
namespace {

using collectives::AllreduceAlgorithm;
using collectives::Communicator;
using collectives::Topology;

struct FactoredOutcome {
  UpdateSums sums;
  std::vector<double> mean;
  bool operator==(const FactoredOutcome& other) const {
    return mean == other.mean && sums.loss_sum == other.sums.loss_sum &&
           sums.gradient.weighted_square == other.sums.gradient.weighted_square &&
           sums.gradient.mean_square == other.sums.gradient.mean_square;
  }
};

class GradientSyncFactorsTest : public testing::Test {
 protected:
  GradientSync make_sync(const Topology& topology, SumKind kind = SumKind::exact,
                         AllreduceAlgorithm algorithm = AllreduceAlgorithm::automatic) {
    return {topology, tensors(), parameter_elements, total_elements, kind, algorithm};
  }
  void allow_factors(GradientSync& sync) {
    sync.allow_factors(
        factored_tensors(), [this](const Factors& factors, std::span<float> gradient) {
          ++multiplied;
          const auto tensors = factored_tensors();
          const auto tensor = std::ranges::find(tensors, factors.tensor, &FactoredTensor::tensor);
          multiply(*tensor, factors.output_gradients, factors.inputs, gradient);
        });
  }

  // The ranks of an update's minibatches, counted round from `first`.
  std::vector<MinibatchRun> runs_on(std::size_t ranks, std::size_t minibatches,
                                    std::size_t first) const {
    std::vector<MinibatchRun> runs;
    for (std::size_t slot = 0; slot < minibatches; ++slot) {
      runs.push_back({(first + slot) % ranks, samples_of(slot)});
    }
    return runs;
  }

  void accumulate(GradientSync& sync, std::size_t slot, bool in_parts, float scale) {
    const std::span<float> place = sync.gradient();
    std::vector<float> gradient = gradient_of(slot);
    for (float& value : gradient) value *= scale;
    std::ranges::copy(gradient, place.begin());
    for (const std::size_t which : {1UL, 0UL}) {
      const FactoredTensor tensor = factored_tensors()[which];
      std::vector<float> output_gradients = factor(slot, tensor, 0);
      for (float& value : output_gradients) value *= scale;
      if (sync.has_factors()) {
        sync.take_factors({tensor.tensor, output_gradients, factor(slot, tensor, 1)});
      }
      if (in_parts) sync.accumulate_from(tensor.begin, place);
    }
    sync.accumulate({slot, samples_of(slot), static_cast<double>(slot) + 0.5, 1}, place);
  }

  FactoredOutcome run_update(GradientSync& sync, std::size_t minibatches, std::size_t first,
                             float scale = 1) {
    const Topology& topology = sync.topology();
    const std::vector<MinibatchRun> runs = runs_on(topology.all().size(), minibatches, first);
    std::uint64_t samples = 0;
    std::vector<std::size_t> mine;
    for (std::size_t slot = 0; slot < runs.size(); ++slot) {
      samples += runs[slot].samples;
      if (runs[slot].rank == topology.all().rank()) mine.push_back(slot);
    }
    FactoredOutcome outcome;
    do {
      sync.begin(minibatches, samples, mine.size(), RankGradients::any_number, runs);
      for (const std::size_t slot : mine) {
        accumulate(sync, slot, slot == mine.back() && slot % 2 == 0, scale);
      }
      outcome.sums = sync.sum();
      outcome.mean.assign(total_elements, 0.0);
      const collectives::Slice slice = sync.my_slice();
      if (topology.node_index() == 0) {
        std::copy_n(sync.mean_gradient().begin() + static_cast<std::ptrdiff_t>(slice.begin),
                    slice.size, outcome.mean.begin() + static_cast<std::ptrdiff_t>(slice.begin));
      }
      topology.all().sum(outcome.mean);
      sync.barrier();
    } while (!outcome.sums.stands);
    return outcome;
  }

  const Communicator world = Communicator::world();
  const Communicator self = world.split(static_cast<int>(world.rank()), 0);
  const Topology alone{self};
  std::size_t multiplied = 0;
};

// Factors and sums take turns at first (agreed_way.hpp).
TEST_F(GradientSyncFactorsTest, AnUpdateHasTheSameBitsWithFactorsAndWithout) {
  for (const std::size_t per_node : {1UL, 2UL}) {
    const Topology nodes(world, per_node);
    GradientSync sync = make_sync(nodes);
    allow_factors(sync);
    EXPECT_EQ(sync.has_factors(), nodes.node_count() > 1);
    GradientSync reference = make_sync(alone);
    multiplied = 0;
    std::size_t with_factors = 0;
    for (std::size_t update = 0; update < 36; ++update) {
      const std::size_t minibatches = 1 + update % 5;
      const std::size_t before = multiplied;
      EXPECT_TRUE(run_update(sync, minibatches, update / 3) ==
                  run_update(reference, minibatches, 0))
          << "update " << update << ", " << per_node << " ranks a node";
      with_factors += multiplied > before ? 1U : 0U;
    }
    std::int64_t most = static_cast<std::int64_t>(with_factors);
    world.maximum(std::span(&most, 1));
    if (nodes.node_count() == 1) {
      EXPECT_EQ(most, 0);
    } else {
      EXPECT_GE(most, 6);
    }
  }
}

// Of 33 sums, of which the first is repeated, the ways that are tried (faster_way.hpp) have five
// times three.
TEST_F(GradientSyncFactorsTest, FactorsAndSumsTakeTurnsAtFirst) {
  if (world.size() == 1 || world.size() > 4) return;
  const Topology nodes(world, 1);
  GradientSync sync = make_sync(nodes);
  allow_factors(sync);
  std::size_t by_sums = 0;
  for (std::size_t update = 0; update < 32; ++update) {
    const std::size_t before = multiplied;
    run_update(sync, world.size(), 0);
    by_sums += multiplied == before ? 1U : 0U;
  }
  EXPECT_EQ(by_sums, 5U * 3U);
}

// The mean of both nodes' halves on every node, not on the first alone.
TEST_F(GradientSyncFactorsTest, EveryNodeHasTheMean) {
  const Topology nodes(world, 1);
  GradientSync sync = make_sync(nodes);
  allow_factors(sync);
  for (std::size_t update = 0; update < 6; ++update) {
    run_update(sync, world.size(), 0);
    double samples = 0;
    std::vector<double> expected(parameter_elements);
    for (std::size_t slot = 0; slot < world.size(); ++slot) {
      samples += static_cast<double>(samples_of(slot));
      const std::vector<float> gradient = gradient_of(slot);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += gradient[i];
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto mean = static_cast<float>(expected[i] * (1 / samples));
      wrong += sync.mean_gradient()[i] == mean ? 0U : 1U;
    }
    EXPECT_EQ(wrong, 0U) << "update " << update;
  }
}

TEST_F(GradientSyncFactorsTest, OnlyExactSumsByTheAutomaticAlgorithmHaveThem) {
  const Topology nodes(world, 1);
  for (const SumKind kind : {SumKind::exact, SumKind::fast}) {
    for (const auto algorithm : {AllreduceAlgorithm::automatic, AllreduceAlgorithm::node_shared,
                                 AllreduceAlgorithm::ring}) {
      GradientSync sync = make_sync(nodes, kind, algorithm);
      allow_factors(sync);
      EXPECT_EQ(sync.has_factors(), world.size() > 1 && kind == SumKind::exact &&
                                        algorithm == AllreduceAlgorithm::automatic);
    }
  }
}

// No update without the list of who runs what, nor one with too many minibatches for a rank.
TEST_F(GradientSyncFactorsTest, UpdatesThatHaveNoneMayComeBetween) {
  const Topology nodes(world, 1);
  GradientSync sync = make_sync(nodes);
  allow_factors(sync);
  GradientSync reference = make_sync(alone);
  for (const std::size_t minibatches : {2UL, 30UL, 1UL, 2UL, 30UL, 2UL}) {
    EXPECT_TRUE(run_update(sync, minibatches, 1) == run_update(reference, minibatches, 0));
  }
}

TEST_F(GradientSyncFactorsTest, ANonFiniteGradientIsToldOnAllRanksAndForgotten) {
  const Topology nodes(world, 1);
  GradientSync sync = make_sync(nodes);
  allow_factors(sync);
  GradientSync reference = make_sync(alone);
  for (int update = 0; update < 6; ++update) {
    EXPECT_THROW(run_update(sync, world.size(), 0, std::numeric_limits<float>::infinity()),
                 NonFiniteGradient);
    sync.barrier();
    EXPECT_TRUE(run_update(sync, world.size(), 0) == run_update(reference, world.size(), 0));
  }
}

}  // namespace
}  // namespace rubato::optim::factored
