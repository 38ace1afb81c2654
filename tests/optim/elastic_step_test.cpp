// step() once per substep: what it says, what it zeroes, and that its result is that of the parts
// put together by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

// Of five minibatches and of one: with more than one rank some are idle then. The third update
// shows what the second has left of the momentum.
const std::vector<std::size_t> minibatch_counts{5, 1, 1};

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
  for (const std::size_t ranks_per_node : {1UL, 2UL, 5UL}) {
    const Epoch together = run_epoch(collectives::Topology(world, ranks_per_node));
    EXPECT_EQ(together.parameters, alone.parameters) << ranks_per_node << " ranks a node";
  }
  EXPECT_NE(std::count(alone.parameters.begin(), alone.parameters.end(), 0.0F),
            static_cast<std::ptrdiff_t>(total_elements));
  EXPECT_EQ(alone.letters, "AAAAUUU");
}

TEST(ElasticStep, SaysWhetherItAccumulatedOrUpdated) {
  const auto world = collectives::Communicator::world();
  const Epoch run = run_epoch(collectives::Topology(world));
  const std::size_t mine =
      std::max<std::size_t>(1, (5 + world.size() - 1 - world.rank()) / world.size());
  EXPECT_EQ(run.letters, std::string(mine - 1, 'A') + "UUU");
}

// Everything that can be measured, over four epochs of three updates: of one minibatch, of five, of
// one. Each epoch ends with a gradient that is kept for the next one's first. The third one leaves
// the units of the sum, so that its first update is summed again.
class MeasuringProgram {
 public:
  explicit MeasuringProgram(const collectives::Topology& topology)
      : topology_(topology),
        optimizer_(make_optimizer()),
        buffers_(optimizer_->state_names().size()),
        memory_(topology, topology.node().rank() == 0 ? elements() * sizeof(float) : 0) {
    attach();
  }

  void run_epoch(std::uint64_t epoch) {
    const std::vector<std::size_t> counts{1, 5, 1};
    const std::vector<std::uint64_t> batches{samples_in(1), samples_in(5), samples_in(1)};
    const std::size_t rank = topology_.all().rank(), ranks = topology_.all().size();
    std::vector<std::size_t> substeps;
    for (const std::size_t count : counts) {
      substeps.push_back(std::max<std::size_t>(1, (count + ranks - 1 - rank) / ranks));
    }
    optimizer_->set_epoch(epoch, batches, counts, substeps);
    for (std::size_t update = 0; update < counts.size(); ++update) {
      std::size_t slot = rank;
      do {
        const bool is_idle = slot >= counts[update];
        if (!is_idle) std::ranges::copy(gradient(epoch, update, slot), gradient_.begin());
        optimizer_->step(is_idle ? SubstepFacts{}
                                 : SubstepFacts{slot, samples_of(slot), loss_of(slot), 0});
        slot += ranks;
      } while (slot < counts[update]);
    }
  }

  // As after a checkpoint: all but the memory is new.
  void restart() {
    const std::vector<NamedScalar> scalars = optimizer_->scalars();
    const std::vector<std::int32_t> exponents = sync_->units().exponents();
    optimizer_ = make_optimizer();
    optimizer_->restore_scalars(scalars);
    attach();
    sync_->units().restore(exponents);
  }

  static std::vector<float> gradient(std::uint64_t epoch, std::size_t update, std::size_t slot) {
    return gradient_sum(slot + 5 * (3 * epoch + update), epoch == 2 ? 1e6F : 1.0F);
  }
  std::vector<float> memory() const {
    const std::span<const float> all = memory_.region_as<float>(0).first(elements());
    return {all.begin(), all.end()};
  }
  std::vector<double> scalars() const {
    std::vector<double> values;
    for (const NamedScalar& scalar : optimizer_->scalars()) values.push_back(scalar.value);
    return values;
  }

 private:
  static std::unique_ptr<ElasticOptimizer> make_optimizer() {
    ElasticOptions options{.reference_batch = 8, .clip_norm = 0.25};
    options.single_minibatch = SingleMinibatch::difference;
    options.tensors = {"first.weight", "first.bias"};
    return make_elastic_optimizer("adamscale", optim::make_optimizer<float>({.name = "adam"}),
                                  LearningRateSchedule(constant_rate()), options);
  }

  std::size_t elements() const { return total_elements + buffers_ * parameter_elements; }

  void attach() {
    const std::span<float> all = memory_.region_as<float>(0);
    SharedState state{all.first(total_elements), {}};
    for (std::size_t i = 0; i < buffers_; ++i) {
      state.optimizer_state.push_back(
          all.subspan(total_elements + i * parameter_elements, parameter_elements));
    }
    sync_ =
        std::make_unique<GradientSync>(topology_, tensors(), parameter_elements, total_elements,
                                       SumKind::exact, collectives::AllreduceAlgorithm::automatic);
    optimizer_->attach(*sync_, state, gradient_, 100);
  }

  const collectives::Topology& topology_;
  std::unique_ptr<ElasticOptimizer> optimizer_;
  std::size_t buffers_;
  collectives::NodeMemory memory_;
  std::unique_ptr<GradientSync> sync_;
  std::vector<float> gradient_ = std::vector<float>(total_elements);
};

TEST(ElasticStep, MeasuresTheSameBitsForAnyNumberOfRanksAndAfterARestart) {
  const auto world = collectives::Communicator::world();
  const auto self = world.split(static_cast<int>(world.rank()), 0);
  const collectives::Topology one_rank(self), all_ranks(world);
  MeasuringProgram alone(one_rank), together(all_ranks), restarted(all_ranks);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    for (MeasuringProgram* const program : {&alone, &together, &restarted}) {
      if (program == &restarted && epoch > 0) program->restart();
      program->run_epoch(epoch);
      world.barrier();
    }
    EXPECT_EQ(together.memory(), alone.memory());
    EXPECT_EQ(together.scalars(), alone.scalars());
    EXPECT_EQ(restarted.memory(), alone.memory());
    EXPECT_EQ(restarted.scalars(), alone.scalars());
    world.barrier();
  }
  EXPECT_GT(alone.scalars()[0], 12);  // gains above 1: adam's metric was measured
  // The buffer behind parameters, first and second averages: the last update's mean gradient.
  const std::vector<float> kept = alone.memory();
  const std::vector<float> last = MeasuringProgram::gradient(3, 2, 0);
  for (std::size_t i = 0; i < parameter_elements; ++i) {
    ASSERT_NEAR(kept[total_elements + 2 * parameter_elements + i],
                last[i] / static_cast<float>(samples_of(0)), 1e-5)
        << "element " << i;
  }
}

// Under carry an epoch's first update may begin in the middle of its samples.
TEST(ElasticStep, TellsTheScheduleWhereItIs) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  const collectives::NodeMemory memory(
      topology, topology.node().rank() == 0 ? total_elements * sizeof(float) : 0);
  GradientSync sync(topology, tensors(), parameter_elements, total_elements, SumKind::exact,
                    collectives::AllreduceAlgorithm::automatic);
  std::vector<float> gradient(total_elements);
  Position told;
  ConstantOptimizer optimizer(make_optimizer<float>({.name = "sgd"}),
                              LearningRateSchedule::of([&](const Position& position) {
                                told = position;
                                return 0.1;
                              }),
                              {.reference_batch = 8});
  optimizer.attach(sync, {memory.region_as<float>(0).first(total_elements), {}}, gradient, 128);
  const std::vector<std::uint64_t> batches{8, 16};
  const std::vector<std::size_t> ones{1, 1};
  std::vector<std::array<double, 4>> positions;
  for (const std::uint64_t epoch : {0U, 1U}) {
    optimizer.set_epoch(epoch, batches, ones, ones, epoch == 0 ? 0 : 64);
    for (const std::size_t samples : batches) {
      optimizer.step(world.rank() == 0 ? SubstepFacts{0, samples, 0, 0} : SubstepFacts{});
      positions.push_back({told.update, told.sample, told.epoch, told.progress});
    }
  }
  EXPECT_EQ(positions, (std::vector<std::array<double, 4>>{
                           {0, 0, 0, 0}, {1, 8, 0.0625, 1}, {2, 24, 1.5, 2}, {3, 32, 1.5625, 3}}));
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
