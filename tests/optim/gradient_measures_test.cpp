// What runs measure beyond norms, through the sync: over 1 ... 5 ranks, on one node and on several,
// the same bits as on one rank alone, and the numbers of a plain loop.
#include "optim/gradient_measures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/gradient_sync.hpp"
#include "tests/optim/plain_preconditioner.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

using collectives::AllreduceAlgorithm;
using collectives::Communicator;
using collectives::Topology;

std::vector<float> wave(double phase) {
  std::vector<float> values(parameter_elements);
  for (const TensorRange& tensor : tensors()) {
    for (std::size_t i = tensor.begin; tensor.is_parameter && i < tensor.begin + tensor.size; ++i) {
      values[i] = static_cast<float>(1 + 0.5 * std::sin(static_cast<double>(i) * 0.11 + phase));
    }
  }
  return values;
}

struct Measured {
  GradientFacts gradient, preconditioned;
  std::vector<GradientFacts> tensors;
};

class GradientMeasuresTest : public testing::Test {
 protected:
  MeasureOptions all_options() const {
    return {measures_tensors, &preconditioner, scales,
            keeps_gradient ? kept : std::span<const float>()};
  }

  // Under deal 0 gradients are computed elsewhere, under deal 1 in the sync's own places.
  Measured run_update(const Topology& topology, SumKind kind, AllreduceAlgorithm algorithm,
                      std::size_t minibatches, std::size_t deal) const {
    GradientSync sync(topology, tensors(), parameter_elements, total_elements, kind, algorithm);
    sync.measure(all_options());
    return update_of(sync, topology, minibatches, deal);
  }

  static Measured update_of(GradientSync& sync, const Topology& topology, std::size_t minibatches,
                            std::size_t deal) {
    const std::vector<std::size_t> mine = dealt(minibatches, deal, topology);
    std::vector<float> elsewhere(total_elements);
    UpdateSums sums;
    do {
      sync.begin(minibatches, samples_in(minibatches), mine.size());
      for (const std::size_t slot : mine) {
        const std::span<float> place = deal == 1 ? sync.gradient() : elsewhere;
        std::ranges::copy(gradient_sum(slot), place.begin());
        sync.accumulate({slot, samples_of(slot), loss_of(slot), 0}, place);
      }
      sums = sync.sum();
      sync.barrier();
    } while (!sums.stands);
    return {sums.gradient, sums.preconditioned, {sums.tensors.begin(), sums.tensors.end()}};
  }

  const Communicator world = Communicator::world();
  const Communicator self = world.split(static_cast<int>(world.rank()), 0);
  const Topology alone{self};
  std::vector<float> scales = wave(0);
  const std::vector<float> kept = wave(2);
  PlainPreconditioner preconditioner;
  bool keeps_gradient = true;
  bool measures_tensors = true;
};

std::array<double, 6> numbers(const GradientFacts& facts) {
  return {facts.batch_size,      static_cast<double>(facts.minibatches),
          facts.weighted_square, facts.mean_square,
          facts.kept_square,     facts.kept_product};
}

void expect_same_bits(const GradientFacts& one, const GradientFacts& other) {
  EXPECT_EQ(numbers(one), numbers(other));
}

TEST_F(GradientMeasuresTest, HaveTheSameBitsForAnyRanksNodesDealAndAlgorithm) {
  const Topology one_node(world), nodes_of_two(world, 2), nodes_of_one(world, 1);
  for (const std::size_t minibatches : {1UL, 2UL, 7UL, 16UL}) {
    preconditioner.updates_done = 10 + minibatches;
    const Measured reference =
        run_update(alone, SumKind::exact, AllreduceAlgorithm::automatic, minibatches, 0);
    ASSERT_EQ(reference.tensors.size(), 2U);
    for (const Topology* topology : {&one_node, &nodes_of_two, &nodes_of_one}) {
      for (const auto algorithm : {AllreduceAlgorithm::automatic, AllreduceAlgorithm::ring}) {
        for (const std::size_t deal : {0UL, 1UL}) {
          const Measured found =
              run_update(*topology, SumKind::exact, algorithm, minibatches, deal);
          expect_same_bits(found.gradient, reference.gradient);
          expect_same_bits(found.preconditioned, reference.preconditioned);
          for (std::size_t i = 0; i < 2; ++i)
            expect_same_bits(found.tensors[i], reference.tensors[i]);
        }
      }
    }
  }
}

// Owners look at a few minibatches' gradients while they add them up; but where each tensor is
// measured apart, or on several nodes, ranks look at their own.
TEST_F(GradientMeasuresTest, HaveTheSameBitsWhoeverLooks) {
  keeps_gradient = false;
  for (const SumKind kind : {SumKind::exact, SumKind::fast}) {
    for (const std::size_t minibatches : {2UL, 3UL, 4UL}) {
      const Measured reference =
          run_update(alone, SumKind::exact, AllreduceAlgorithm::automatic, minibatches, 0);
      measures_tensors = false;
      for (const Topology& topology : {Topology(world), Topology(world, 1), Topology(self)}) {
        const Measured found =
            run_update(topology, kind, AllreduceAlgorithm::automatic, minibatches, 1);
        EXPECT_TRUE(found.tensors.empty());
        EXPECT_EQ(found.gradient.weighted_square, reference.gradient.weighted_square);
        EXPECT_EQ(found.preconditioned.weighted_square, reference.preconditioned.weighted_square);
        if (kind == SumKind::exact)
          expect_same_bits(found.preconditioned, reference.preconditioned);
      }
      measures_tensors = true;
    }
  }
}

// The facts of one part of the elements, in one metric, from the definitions.
GradientFacts plain_facts(std::size_t begin, std::size_t end, std::size_t minibatches,
                          const std::vector<float>& scales, const std::vector<float>& kept) {
  GradientFacts facts{.batch_size = static_cast<double>(samples_in(minibatches)),
                      .minibatches = minibatches};
  std::vector<double> mean(total_elements);
  for (std::size_t slot = 0; slot < minibatches; ++slot) {
    const std::vector<float> sum = gradient_sum(slot);
    const auto samples = static_cast<double>(samples_of(slot));
    for (std::size_t i = begin; i < end; ++i) {
      const double square = double{sum[i]} * sum[i] * scales[i] * scales[i];
      facts.weighted_square += square / samples / facts.batch_size;
      mean[i] += sum[i] / facts.batch_size;
    }
  }
  for (std::size_t i = begin; i < end; ++i) {
    facts.mean_square += mean[i] * mean[i] * scales[i] * scales[i];
    if (minibatches > 1) continue;
    facts.kept_square += double{kept[i]} * kept[i] * scales[i] * scales[i];
    facts.kept_product += mean[i] * kept[i] * scales[i] * scales[i];
  }
  return facts;
}

void expect_near(const GradientFacts& found, const GradientFacts& expected) {
  const auto actual = numbers(found), wanted = numbers(expected);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], wanted[i], 1e-5 * std::abs(wanted[i])) << "number " << i;
  }
}

TEST_F(GradientMeasuresTest, AreThoseOfTheDefinitions) {
  const Topology topology(world);
  const std::vector<float> ones(parameter_elements, 1.0F);
  for (const SumKind kind : {SumKind::exact, SumKind::fast}) {
    for (const std::size_t minibatches : {1UL, 2UL, 9UL}) {
      const Measured found =
          run_update(topology, kind, AllreduceAlgorithm::automatic, minibatches, 1);
      expect_near(found.gradient, plain_facts(0, parameter_elements, minibatches, ones, kept));
      expect_near(found.preconditioned,
                  plain_facts(0, parameter_elements, minibatches, scales, kept));
      expect_near(found.tensors[0], plain_facts(0, 5008, minibatches, ones, kept));
      expect_near(found.tensors[1], plain_facts(5008, parameter_elements, minibatches, ones, kept));
    }
  }
}

// Whether they are taken as soon as there are new ones, or noticed to be old by the next update.
TEST_F(GradientMeasuresTest, AreInTheMetricOfTheLastUpdate) {
  const Topology topology(world);
  for (const bool takes_at_once : {false, true}) {
    std::ranges::copy(wave(0), scales.begin());
    preconditioner.updates_done = 8;
    GradientSync sync = automatic_sync(topology, SumKind::exact);
    sync.measure(all_options());
    for (int update = 0; update < 3; ++update) {
      const Measured expected =
          run_update(alone, SumKind::exact, AllreduceAlgorithm::automatic, 4, 0);
      if (takes_at_once && update > 0) std::ranges::copy(wave(9), scales.begin());  // too late
      expect_same_bits(update_of(sync, topology, 4, 0).preconditioned, expected.preconditioned);
      std::ranges::copy(wave(update + 1), scales.begin());
      preconditioner.updates_done += 1;
      if (takes_at_once) sync.take_scales();
      sync.barrier();
    }
  }
}

TEST_F(GradientMeasuresTest, SayNothingInAMetricThatIsNotSettled) {
  preconditioner.settled = false;
  const Measured found =
      run_update(Topology(world), SumKind::exact, AllreduceAlgorithm::automatic, 4, 0);
  EXPECT_EQ(found.preconditioned.minibatches, 0U);
  EXPECT_EQ(found.gradient.minibatches, 4U);
}

TEST_F(GradientMeasuresTest, SayNothingOfOneMinibatchThatIsComparedWithNoOther) {
  keeps_gradient = false;
  for (const std::size_t minibatches : {1UL, 2UL}) {
    const Measured found =
        run_update(Topology(world), SumKind::exact, AllreduceAlgorithm::automatic, minibatches, 0);
    EXPECT_EQ(found.preconditioned.minibatches, minibatches == 1 ? 0 : minibatches);
    EXPECT_EQ(found.tensors.empty(), minibatches == 1);
    EXPECT_EQ(found.gradient.minibatches, minibatches);
  }
}

TEST_F(GradientMeasuresTest, CostNothingWhereNobodyAsks) {
  const Topology topology(world);
  GradientSync sync(topology, tensors(), parameter_elements, total_elements, SumKind::exact,
                    AllreduceAlgorithm::automatic);
  sync.measure({});
  UpdateSums sums;
  do {
    sync.begin(1, samples_of(0));
    if (world.rank() == 0) sync.accumulate({0, samples_of(0), 1, 0}, gradient_sum(0));
    sums = sync.sum();
    sync.barrier();
  } while (!sums.stands);
  EXPECT_TRUE(sums.tensors.empty());
  EXPECT_EQ(sums.preconditioned.minibatches, 0U);
  EXPECT_EQ(sums.gradient.kept_square, 0);
}

}  // namespace
}  // namespace rubato::optim
