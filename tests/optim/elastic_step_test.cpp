// step() once per substep: what it says, what it zeroes, and that its result is that of the parts
// put together by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/node_memory.hpp"
#include "optim/elastic_optimizer.hpp"
#include "optim/scaling_rules.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

using namespace testing;

// Two updates, of five minibatches and of one: with more than one rank some are idle in the second.
const std::vector<std::size_t> minibatch_counts{5, 1};

ScheduleOptions constant_rate() {
  ScheduleOptions options;
  options.base_rate = 0.1;
  return options;
}

std::unique_ptr<ElasticOptimizer> make_optimizer_under_test() {
  return make_elastic_optimizer("linear", make_optimizer<float>({.name = "sgd", .momentum = 0.9}),
                                LearningRateSchedule(constant_rate()), {.reference_batch = 8});
}

struct Epoch {
  std::vector<float> parameters;
  std::string letters;  // A: accumulated, U: updated; of this rank
};

Epoch run_epoch(const collectives::Topology& topology) {
  const collectives::NodeMemory memory(
      topology,
      topology.node().rank() == 0 ? (total_elements + parameter_elements) * sizeof(float) : 0);
  const std::span<float> all = memory.region_as<float>(0);
  const SharedState state{all.first(total_elements),
                          {all.subspan(total_elements, parameter_elements)}};
  GradientSync sync(topology, tensors(), parameter_elements, total_elements, SumKind::exact,
                    collectives::AllreduceAlgorithm::automatic);
  std::vector<float> gradient(total_elements);
  const auto optimizer = make_optimizer_under_test();
  optimizer->attach(sync, state, gradient, 100);

  const std::size_t rank = topology.all().rank();
  const std::size_t ranks = topology.all().size();
  std::vector<std::uint64_t> batches;
  std::vector<std::size_t> substeps;
  for (const std::size_t minibatches : minibatch_counts) {
    batches.push_back(samples_in(minibatches));
    substeps.push_back(std::max<std::size_t>(1, (minibatches + ranks - 1 - rank) / ranks));
  }
  optimizer->set_epoch(0, batches, minibatch_counts, substeps);

  Epoch run;
  for (const std::size_t minibatches : minibatch_counts) {
    std::vector<SubstepFacts> facts;
    for (std::size_t slot = rank; slot < minibatches; slot += ranks) {
      facts.push_back({slot, samples_of(slot), loss_of(slot), 0});
    }
    if (facts.empty()) facts.push_back({});
    for (const SubstepFacts& one : facts) {
      if (one.samples > 0) {
        const std::vector<float> sum = gradient_sum(one.slot);
        std::copy(sum.begin(), sum.end(), gradient.begin());
      }
      const auto outcome = optimizer->step(one);
      run.letters += outcome.kind == ElasticOptimizer::StepKind::updated ? 'U' : 'A';
      EXPECT_EQ(std::count(gradient.begin(), gradient.end(), 0.0F),
                static_cast<std::ptrdiff_t>(total_elements));
      if (outcome.kind == ElasticOptimizer::StepKind::updated) {
        EXPECT_EQ(outcome.batch_size, samples_in(minibatches));
        EXPECT_DOUBLE_EQ(outcome.decision.rate.learning_rate,
                         0.1 * static_cast<double>(outcome.batch_size) / 8);
      }
    }
  }
  EXPECT_THROW(optimizer->step({}), std::logic_error);
  run.parameters.assign(state.parameters.begin(), state.parameters.end());
  topology.all().barrier();
  return run;
}

TEST(ElasticStep, HasTheSameBitsForAnyNumberOfRanks) {
  const auto world = collectives::Communicator::world();
  const auto self = world.split(static_cast<int>(world.rank()), 0);
  const Epoch alone = run_epoch(collectives::Topology(self));
  const Epoch together = run_epoch(collectives::Topology(world));
  EXPECT_EQ(together.parameters, alone.parameters);
  EXPECT_NE(std::count(alone.parameters.begin(), alone.parameters.end(), 0.0F),
            static_cast<std::ptrdiff_t>(total_elements));
  EXPECT_EQ(alone.letters, "AAAAUU");
}

TEST(ElasticStep, SaysWhetherItAccumulatedOrUpdated) {
  const auto world = collectives::Communicator::world();
  const Epoch run = run_epoch(collectives::Topology(world));
  const std::size_t mine =
      std::max<std::size_t>(1, (5 + world.size() - 1 - world.rank()) / world.size());
  EXPECT_EQ(run.letters, std::string(mine - 1, 'A') + "UU");
}

// Three epochs of three updates with all that can be measured: parameters, the optimizer's buffers
// and scalars after them.
struct Measured {
  std::vector<float> memory;
  std::vector<double> scalars;
};

Measured run_measuring(const collectives::Topology& topology) {
  ElasticOptions options{.reference_batch = 8, .clip_norm = 0.25};
  options.single_minibatch = SingleMinibatch::difference;
  options.tensors = {"first.weight", "first.bias"};
  const auto optimizer =
      make_elastic_optimizer("adamscale", make_optimizer<float>({.name = "adam"}),
                             LearningRateSchedule(constant_rate()), options);
  const std::size_t buffers = optimizer->state_names().size();
  const collectives::NodeMemory memory(
      topology, topology.node().rank() == 0
                    ? (total_elements + buffers * parameter_elements) * sizeof(float)
                    : 0);
  const std::span<float> all = memory.region_as<float>(0);
  SharedState state{all.first(total_elements), {}};
  for (std::size_t i = 0; i < buffers; ++i) {
    state.optimizer_state.push_back(
        all.subspan(total_elements + i * parameter_elements, parameter_elements));
  }
  GradientSync sync(topology, tensors(), parameter_elements, total_elements, SumKind::exact,
                    collectives::AllreduceAlgorithm::automatic);
  std::vector<float> gradient(total_elements);
  optimizer->attach(sync, state, gradient, 100);
  const std::vector<std::size_t> counts{5, 1, 1};
  const std::vector<std::uint64_t> batches{samples_in(5), samples_in(1), samples_in(1)};
  const std::size_t rank = topology.all().rank(), ranks = topology.all().size();
  std::vector<std::size_t> substeps;
  for (const std::size_t count : counts) {
    substeps.push_back(std::max<std::size_t>(1, (count + ranks - 1 - rank) / ranks));
  }
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    optimizer->set_epoch(epoch, batches, counts, substeps);
    for (const std::size_t count : counts) {
      std::size_t slot = rank;
      do {
        const bool is_idle = slot >= count;
        const std::vector<float> sum = gradient_sum(is_idle ? 0 : slot + epoch);
        if (!is_idle) std::ranges::copy(sum, gradient.begin());
        optimizer->step(is_idle ? SubstepFacts{}
                                : SubstepFacts{slot, samples_of(slot), loss_of(slot), 0});
        slot += ranks;
      } while (slot < count);
    }
  }
  Measured measured;
  measured.memory.assign(all.begin(), all.end());
  for (const NamedScalar& scalar : optimizer->scalars()) measured.scalars.push_back(scalar.value);
  topology.all().barrier();
  return measured;
}

TEST(ElasticStep, MeasuresTheSameBitsForAnyNumberOfRanks) {
  const auto world = collectives::Communicator::world();
  const auto self = world.split(static_cast<int>(world.rank()), 0);
  const Measured alone = run_measuring(collectives::Topology(self));
  const Measured together = run_measuring(collectives::Topology(world));
  EXPECT_EQ(together.memory, alone.memory);
  EXPECT_EQ(together.scalars, alone.scalars);
  EXPECT_GT(alone.scalars[0], 9);  // gains above 1: adam's metric was measured
  // The buffer behind parameters, first and second averages: the mean gradient of the update
  // before the last, that of minibatch 0 in the third epoch.
  const std::vector<float> sum = gradient_sum(2);
  const auto* const kept = alone.memory.data() + total_elements + 2 * parameter_elements;
  for (std::size_t i = 0; i < parameter_elements; ++i) {
    ASSERT_NEAR(kept[i], sum[i] / static_cast<float>(samples_of(0)), 1e-5) << "element " << i;
  }
}

// Under carry an epoch's first update may begin in the middle of its samples; the schedule knows.
TEST(ElasticStep, CountsTheEpochFromWhereItsFirstUpdateBegins) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  const collectives::NodeMemory memory(
      topology, topology.node().rank() == 0 ? total_elements * sizeof(float) : 0);
  GradientSync sync(topology, tensors(), parameter_elements, total_elements, SumKind::exact,
                    collectives::AllreduceAlgorithm::automatic);
  std::vector<float> gradient(total_elements);
  ScheduleOptions schedule = constant_rate();
  schedule.name = "step";
  schedule.step_size = 0.5;
  schedule.gamma = 0.25;
  ConstantOptimizer optimizer(make_optimizer<float>({.name = "sgd"}),
                              LearningRateSchedule(schedule), {.reference_batch = 8});
  optimizer.attach(sync, {memory.region_as<float>(0).first(total_elements), {}}, gradient, 100);
  const std::vector<std::uint64_t> batches{8};
  const std::vector<std::size_t> one{1};
  for (const std::uint64_t position : {0U, 60U}) {
    optimizer.set_epoch(0, batches, one, one, position);
    SubstepFacts facts;
    if (world.rank() == 0) facts = {0, 8, 0, 0};
    const auto outcome = optimizer.step(facts);
    EXPECT_DOUBLE_EQ(outcome.decision.schedule_rate, position < 50 ? 0.1 : 0.025);
  }
}

TEST(ElasticStep, BeforeItsPreparationsIsALogicError) {
  const auto optimizer = make_optimizer_under_test();
  try {
    optimizer->step({});
    ADD_FAILURE();
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("set_epoch()"), std::string::npos);
  }
}

}  // namespace
}  // namespace rubato::optim
