// The reduction over 1 ... 5 ranks, on one node and on several, against one rank alone and against
// a plain loop.
#include "optim/gradient_sync.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

using collectives::AllreduceAlgorithm;
using collectives::Communicator;
using collectives::Topology;

struct Outcome {
  UpdateSums sums;
  std::vector<double> mean;
  std::vector<std::int32_t> exponents;
  int attempts = 0;
};

// Writes a gradient as a backward pass does, and tells of it: its last tensors are final first, and
// what comes before them is still to be written. What is final may be written over by its mean.
void write_in_parts(GradientSync& sync, std::span<const float> gradient,
                    std::span<float> under_way) {
  std::ranges::fill(under_way, 1e30F);
  std::size_t end = gradient.size();
  const auto write_from = [&](std::size_t from) {
    std::ranges::copy(gradient.subspan(from, end - from), under_way.subspan(from).begin());
    end = from;
  };
  for (const std::size_t from : {parameter_elements, std::size_t{7777}, std::size_t{5008}}) {
    write_from(from);
    sync.accumulate_from(from, under_way);
  }
  write_from(0);
}

// Runs one update whose minibatches are dealt to the ranks in a way that depends on `deal`. Every
// rank with an odd sum of rank and `deal` hands over its last gradient in parts. Under deal 0
// gradients are computed elsewhere, under deal 1 in the sync's own places, under deal 2 every other
// one.
Outcome run_update(GradientSync& sync, const Topology& topology, std::size_t minibatches,
                   std::size_t deal, float magnitude = 1) {
  const std::vector<std::size_t> mine = dealt(minibatches, deal, topology);
  std::vector<float> elsewhere(total_elements);
  Outcome outcome;
  do {
    if (outcome.attempts++ > 0) sync.barrier();
    sync.begin(minibatches, samples_in(minibatches), mine.size(),
               most_dealt(minibatches, deal, topology));
    for (const std::size_t slot : mine) {
      const std::vector<float> gradient = gradient_sum(slot, magnitude);
      const bool is_in_place = deal == 1 || (deal == 2 && slot % 2 == 1);
      const std::span<float> place = is_in_place ? sync.gradient() : elsewhere;
      const bool in_parts = slot == mine.back() && (topology.all().rank() + deal) % 2 == 1;
      if (in_parts) write_in_parts(sync, gradient, place);
      if (!in_parts) std::ranges::copy(gradient, place.begin());
      sync.accumulate({slot, samples_of(slot), loss_of(slot), slot % 3}, place);
    }
    outcome.sums = sync.sum();
  } while (!outcome.sums.stands);
  outcome.mean = whole_mean(sync, topology);
  outcome.exponents = sync.units().exponents();
  sync.barrier();
  return outcome;
}

GradientSync make_sync(const Topology& topology, SumKind kind, AllreduceAlgorithm algorithm) {
  return {topology, tensors(), parameter_elements, total_elements, kind, algorithm};
}

void expect_same_bits(const Outcome& one, const Outcome& other) {
  EXPECT_EQ(one.mean, other.mean);
  EXPECT_EQ(one.exponents, other.exponents);
  EXPECT_EQ(one.sums.loss_sum, other.sums.loss_sum);
  EXPECT_EQ(one.sums.correct, other.sums.correct);
  EXPECT_EQ(one.sums.gradient.weighted_square, other.sums.gradient.weighted_square);
  EXPECT_EQ(one.sums.gradient.mean_square, other.sums.gradient.mean_square);
}

class GradientSyncTest : public testing::Test {
 protected:
  const Communicator world = Communicator::world();
  const Topology one_node{world};
  const Topology nodes_of_two{world, 2};
  const Topology nodes_of_one{world, 1};
  const Communicator self = world.split(static_cast<int>(world.rank()), 0);
  const Topology alone{self};
};

TEST_F(GradientSyncTest, ExactSumsHaveTheSameBitsForAnyRanksNodesDealAndAlgorithm) {
  for (const std::size_t minibatches : {1UL, 2UL, 3UL, 7UL, 8UL, 9UL, 16UL}) {
    GradientSync reference_sync = make_sync(alone, SumKind::exact, AllreduceAlgorithm::automatic);
    const Outcome reference = run_update(reference_sync, alone, minibatches, 0);
    for (const Topology* topology : {&one_node, &nodes_of_two, &nodes_of_one}) {
      for (const auto algorithm :
           {AllreduceAlgorithm::automatic, AllreduceAlgorithm::library, AllreduceAlgorithm::ring,
            AllreduceAlgorithm::recursive_doubling, AllreduceAlgorithm::node_shared}) {
        for (const std::size_t deal : {0UL, 1UL, 2UL}) {
          GradientSync sync = make_sync(*topology, SumKind::exact, algorithm);
          expect_same_bits(run_update(sync, *topology, minibatches, deal), reference);
        }
      }
      GradientSync sync = make_sync(*topology, SumKind::exact, AllreduceAlgorithm::automatic);
      sync.allow_apart();
      for (const bool apart : {true, false}) {
        sync.compute_apart(apart);
        expect_same_bits(run_update(sync, *topology, minibatches, 1), reference);
      }
    }
  }
}

TEST_F(GradientSyncTest, AuditsArriveByMinibatchAndTheLargestRequestEverywhere) {
  constexpr std::size_t minibatches = 6;
  constexpr std::uint64_t large = (std::uint64_t{1} << 52U) - 1;
  for (const Topology* topology : {&one_node, &nodes_of_two}) {
    GradientSync sync = make_sync(*topology, SumKind::exact, AllreduceAlgorithm::automatic);
    for (const std::uint64_t asking : {world.size() - 1, world.size()}) {  // the last, nobody
      UpdateSums sums;
      do {
        sync.begin(minibatches, samples_in(minibatches));
        for (std::size_t slot = world.rank(); slot < minibatches; slot += world.size()) {
          sync.accumulate({slot, samples_of(slot), 0, 0, large - slot}, gradient_sum(slot, 1));
        }
        sums = sync.sum(world.rank() == asking ? 3 : 0);
        EXPECT_EQ(sync.request(), asking < world.size() ? 3U : 0U);
        ASSERT_EQ(sync.audits().size(), minibatches);
        for (std::size_t slot = 0; slot < minibatches; ++slot) {
          EXPECT_EQ(sync.audits()[slot], large - slot);
        }
        sync.barrier();
      } while (!sums.stands);
    }
  }
}

// Rank r says r + 1, how many updates there were, and nothing in every other one.
TEST_F(GradientSyncTest, EveryRankGetsTheNotesOfAllRanks) {
  for (const Topology* topology : {&one_node, &nodes_of_two}) {
    GradientSync sync = make_sync(*topology, SumKind::exact, AllreduceAlgorithm::automatic);
    const auto rank = static_cast<double>(world.rank());
    for (const std::size_t minibatches : {1UL, 9UL, 2UL}) {
      bool stands = false;
      for (int attempt = 1; !stands; ++attempt) {
        sync.begin(minibatches, samples_in(minibatches));
        for (std::size_t slot = world.rank(); slot < minibatches; slot += world.size()) {
          sync.accumulate({slot, samples_of(slot)}, gradient_sum(slot, 1));
        }
        const RankNote note{rank + 1, static_cast<double>(attempt), attempt % 2 == 0 ? 0 : -rank};
        stands = sync.sum(0, note).stands;
        ASSERT_EQ(sync.notes().size(), world.size());
        for (std::size_t other = 0; other < world.size(); ++other) {
          const auto number = static_cast<double>(other);
          EXPECT_EQ(sync.notes()[other], (RankNote{number + 1, static_cast<double>(attempt),
                                                   attempt % 2 == 0 ? 0 : -number}));
        }
        sync.barrier();
      }
    }
  }
}

// What a failed update leaves behind must not be seen by the next one.
TEST_F(GradientSyncTest, AnUpdateAfterANonFiniteOneSumsAsIfNothingHadHappened) {
  for (const Topology* topology : {&one_node, &nodes_of_two}) {
    GradientSync sync = make_sync(*topology, SumKind::exact, AllreduceAlgorithm::automatic);
    GradientSync untouched = make_sync(*topology, SumKind::exact, AllreduceAlgorithm::automatic);
    sync.begin(8, samples_in(8));
    for (std::size_t slot = world.rank(); slot < 8; slot += world.size()) {
      std::vector<float> gradient = gradient_sum(slot, 1);
      if (slot == 5) gradient[0] = std::numeric_limits<float>::infinity();
      sync.accumulate({slot, samples_of(slot), loss_of(slot), 1, 7}, gradient);
    }
    EXPECT_THROW(sync.sum(2, {4}), NonFiniteGradient);
    EXPECT_EQ(sync.request(), 2U);
    EXPECT_EQ(sync.notes().back(), (RankNote{4}));
    EXPECT_EQ(sync.audits()[7], 7U);
    sync.barrier();
    for (const std::size_t minibatches : {4UL, 8UL}) {
      expect_same_bits(run_update(sync, *topology, minibatches, 1),
                       run_update(untouched, *topology, minibatches, 1));
    }
  }
}

// In memory that all of the node see: that of the sums too, where an update needs none.
TEST_F(GradientSyncTest, AFewGradientsHaveAPlaceEach) {
  const std::size_t rank = world.rank();
  const std::size_t ranks = world.size();
  for (const Topology* topology : {&one_node, &nodes_of_one}) {
    const auto places = [&](SumKind kind, AllreduceAlgorithm algorithm, std::size_t gradients) {
      GradientSync sync = make_sync(*topology, kind, algorithm);
      std::set<const float*> begins;
      // Not apart: of five the rank looks at its own, of fewer it is not allowed here.
      if (gradients == 5) sync.allow_apart();
      sync.compute_apart(true);
      sync.begin(ranks * gradients, samples_in(ranks * gradients), gradients, gradients);
      for (std::size_t slot = rank * gradients; slot < (rank + 1) * gradients; ++slot) {
        begins.insert(sync.gradient().data());
        std::ranges::copy(gradient_sum(slot), sync.gradient().begin());
        sync.accumulate({slot, samples_of(slot)}, sync.gradient());
      }
      sync.sum();
      sync.barrier();
      return begins.size();
    };
    EXPECT_EQ(places(SumKind::exact, AllreduceAlgorithm::automatic, 4), 4U);
    EXPECT_EQ(places(SumKind::fast, AllreduceAlgorithm::automatic, 3), 3U);
    EXPECT_EQ(places(SumKind::fast, AllreduceAlgorithm::automatic, 4), 2U);
    EXPECT_EQ(places(SumKind::exact, AllreduceAlgorithm::automatic, 5), 2U);
    EXPECT_EQ(places(SumKind::exact, AllreduceAlgorithm::ring, 4), 2U);
  }
}

TEST_F(GradientSyncTest, TheMeanIsThePlainMean) {
  constexpr std::size_t minibatches = 6;
  for (const SumKind kind : {SumKind::exact, SumKind::fast}) {
    GradientSync sync = make_sync(nodes_of_two, kind, AllreduceAlgorithm::automatic);
    const Outcome outcome = run_update(sync, nodes_of_two, minibatches, 1);
    std::vector<double> expected(total_elements, 0.0);
    for (std::size_t slot = 0; slot < minibatches; ++slot) {
      const std::vector<float> gradient = gradient_sum(slot);
      for (std::size_t i = 0; i < total_elements; ++i) expected[i] += gradient[i];
    }
    const auto samples = static_cast<double>(samples_in(minibatches));
    double mean_square = 0;
    for (std::size_t i = 0; i < total_elements; ++i) {
      expected[i] /= i < parameter_elements ? samples : static_cast<double>(minibatches);
      ASSERT_NEAR(outcome.mean[i], expected[i], 1e-6) << "element " << i;
      if (i < parameter_elements) mean_square += expected[i] * expected[i];
    }
    EXPECT_NEAR(outcome.sums.gradient.mean_square, mean_square, 1e-5 * mean_square);
  }
}

TEST_F(GradientSyncTest, ScalarsAreSumsOverTheMinibatches) {
  constexpr std::size_t minibatches = 9;
  GradientSync sync = make_sync(one_node, SumKind::exact, AllreduceAlgorithm::automatic);
  const Outcome outcome = run_update(sync, one_node, minibatches, 0);
  double loss = 0;
  std::uint64_t correct = 0;
  double weighted_square = 0;
  const auto samples = static_cast<double>(samples_in(minibatches));
  for (std::size_t slot = 0; slot < minibatches; ++slot) {
    loss += loss_of(slot);
    correct += slot % 3;
    const std::vector<float> gradient = gradient_sum(slot);
    double square = 0;
    for (std::size_t i = 0; i < parameter_elements; ++i) {
      square += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
    }
    const auto size = static_cast<double>(samples_of(slot));
    weighted_square += size / samples * square / (size * size);
  }
  EXPECT_EQ(outcome.sums.loss_sum, loss);
  EXPECT_EQ(outcome.sums.correct, correct);
  EXPECT_EQ(outcome.sums.samples, samples_in(minibatches));
  EXPECT_EQ(outcome.sums.gradient.minibatches, minibatches);
  EXPECT_NEAR(outcome.sums.gradient.weighted_square, weighted_square, 1e-10 * weighted_square);
}

TEST_F(GradientSyncTest, RepeatsTheFirstUpdateAndThoseThatLeaveTheUnits) {
  GradientSync sync = make_sync(nodes_of_two, SumKind::exact, AllreduceAlgorithm::automatic);
  EXPECT_EQ(run_update(sync, nodes_of_two, 4, 0).attempts, 2);  // calibrates itself
  EXPECT_EQ(run_update(sync, nodes_of_two, 4, 1).attempts, 1);
  EXPECT_EQ(run_update(sync, nodes_of_two, 4, 0, 4.0F).attempts, 1);   // within the headroom
  EXPECT_EQ(run_update(sync, nodes_of_two, 4, 0, 1e9F).attempts, 2);   // too large
  EXPECT_EQ(run_update(sync, nodes_of_two, 4, 0, 1e-3F).attempts, 2);  // too small
  EXPECT_EQ(run_update(sync, nodes_of_two, 4, 1, 1e-3F).attempts, 1);
}

// History decides the units, ranks do not: a run with growing gradients and batches has the same
// bits everywhere.
TEST_F(GradientSyncTest, ASequenceOfUpdatesHasTheSameBitsAsOneRankAlone) {
  GradientSync reference_sync = make_sync(alone, SumKind::exact, AllreduceAlgorithm::automatic);
  GradientSync sync = make_sync(nodes_of_two, SumKind::exact, AllreduceAlgorithm::automatic);
  const std::vector<std::size_t> minibatches{2, 1, 5, 33, 3, 64, 1};
  for (std::size_t update = 0; update < minibatches.size(); ++update) {
    const float magnitude = std::ldexp(1.0F, static_cast<int>(update * 5 % 11) - 5);
    const Outcome reference = run_update(reference_sync, alone, minibatches[update], 0, magnitude);
    const Outcome outcome = run_update(sync, nodes_of_two, minibatches[update], update, magnitude);
    expect_same_bits(outcome, reference);
    EXPECT_EQ(outcome.attempts, reference.attempts);
  }
}

}  // namespace
}  // namespace rubato::optim
