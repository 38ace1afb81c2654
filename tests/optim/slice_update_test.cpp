// Slices done by several owners give what one loop over everything gives.
#include "optim/slice_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/node_memory.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

constexpr double rate = 0.25;
constexpr double momentum = 0.5;
constexpr std::size_t minibatches = 5;  // of fewer no block is used before all are summed

// Node-shared parameters and momentum, both starting at closed forms.
struct Memory {
  explicit Memory(const collectives::Topology& topology)
      : memory(topology, topology.node().rank() == 0
                             ? (total_elements + parameter_elements) * sizeof(float)
                             : 0) {
    const std::span<float> all = memory.region_as<float>(0);
    state.parameters = all.first(total_elements);
    state.optimizer_state = {all.subspan(total_elements, parameter_elements)};
    if (topology.node().rank() == 0) {
      for (std::size_t i = 0; i < total_elements; ++i) {
        state.parameters[i] = static_cast<float>(i % 101) * 0.01F;
      }
      for (std::size_t i = 0; i < parameter_elements; ++i) {
        state.optimizer_state[0][i] = static_cast<float>(i % 7) - 3.0F;
      }
    }
  }
  collectives::NodeMemory memory;
  SharedState state;
};

constexpr UpdateRate update_rate{.learning_rate = rate, .gradient_scale = 1};

// Sums the minibatches, dealt to the ranks in turn; `update`, if given, may use the mean.
UpdateSums sum_minibatches(GradientSync& sync, const collectives::Communicator& world,
                           SliceUpdate* update = nullptr) {
  while (true) {
    sync.begin(minibatches, 8 * minibatches);
    for (std::size_t slot = world.rank(); slot < minibatches; slot += world.size()) {
      sync.accumulate({slot, 8, 0, 0}, gradient_sum(slot));
    }
    const UpdateSums sums = sync.sum(0, {}, update);
    sync.barrier();
    if (sums.stands) return sums;
    EXPECT_FALSE(sums.is_used);
  }
}

TEST(SliceUpdate, UpdatesEveryParameterAndStatisticOnce) {
  const auto world = collectives::Communicator::world();
  for (const std::size_t ranks_per_node : {1UL, 2UL, 5UL}) {
    const collectives::Topology topology(world, ranks_per_node);
    Memory memory(topology);
    GradientSync sync = automatic_sync(topology, SumKind::exact);
    sum_minibatches(sync, world);
    const std::vector<double> mean = whole_mean(sync, topology);

    const auto optimizer = make_optimizer<float>({.name = "sgd", .momentum = momentum});
    SliceUpdate update(*optimizer, sync, memory.state);
    update.prepare(update_rate, minibatches);
    update.run();
    sync.barrier();

    for (std::size_t i = 0; i < parameter_elements; ++i) {
      const float velocity =
          0.5F * (static_cast<float>(i % 7) - 3.0F) + static_cast<float>(mean[i]);
      ASSERT_FLOAT_EQ(memory.state.optimizer_state[0][i], velocity) << "element " << i;
      ASSERT_NEAR(memory.state.parameters[i],
                  static_cast<float>(i % 101) * 0.01F - 0.25F * velocity, 1e-6)
          << "element " << i;
    }
    const double kept = 0.9 * 0.9 * 0.9 * 0.9 * 0.9;  // as if each of the minibatches had moved it
    for (std::size_t i = parameter_elements; i < parameter_elements + 4090; ++i) {
      const double before = static_cast<float>(i % 101) * 0.01F;
      ASSERT_NEAR(memory.state.parameters[i], kept * before + (1 - kept) * mean[i], 1e-6)
          << "element " << i;
    }
    sync.barrier();
  }
}

// Ranks that compute with copies of the weights get the bits of those that share them.
TEST(SliceUpdate, KeepsOwnWeightsAsTheNodes) {
  const auto world = collectives::Communicator::world();
  for (const std::size_t ranks_per_node : {2UL, 5UL}) {
    const collectives::Topology topology(world, ranks_per_node);
    std::array<std::vector<float>, 2> results;
    bool has_own = false;
    for (const bool takes_own : {false, true}) {
      Memory memory(topology);
      GradientSync sync = automatic_sync(topology, SumKind::exact);
      const auto optimizer = make_optimizer<float>({.name = "sgd", .momentum = momentum});
      SliceUpdate update(*optimizer, sync, memory.state);
      std::span<const float> weights = memory.state.parameters;
      if (takes_own) update.allow_own_weights();
      for (int i = 0; i < 12; ++i) {
        if (takes_own) update.computed(weights, 0.001, 1);
        update.prepare(update_rate, minibatches);
        const UpdateSums sums = sum_minibatches(sync, world, i % 2 == 0 ? &update : nullptr);
        if (!sums.is_used) update.run();
        sync.barrier();
        weights = update.new_weights();
        EXPECT_TRUE(std::ranges::equal(weights, memory.state.parameters)) << "update " << i;
        has_own = has_own || weights.data() != memory.state.parameters.data();
        sync.barrier();
      }
      results[takes_own ? 1 : 0].assign(weights.begin(), weights.end());
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(has_own, topology.node().size() > 1);
  }
}

// An optimizer that steps tensor by tensor moves all statistics of a slice at once.
TEST(SliceUpdate, MovesStatisticsThatAreLargerThanABlock) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world, 2);
  constexpr std::size_t block = 4096;
  constexpr std::size_t all = 8 * block;
  const collectives::NodeMemory memory(
      topology, topology.node().rank() == 0 ? (all + block) * sizeof(float) : 0);
  const std::span<float> floats = memory.region_as<float>(0);
  GradientSync sync(
      topology,
      {{"w", 0, block, true, 0}, {"norm.running_mean", block, all - block - 10, false, 0.1}}, block,
      all, SumKind::exact, collectives::AllreduceAlgorithm::automatic);
  const auto lars = make_optimizer<float>({.name = "lars", .momentum = momentum});
  SliceUpdate update(*lars, sync, {floats.first(all), {floats.subspan(all, block)}});
  const auto sums = [&] {
    sync.begin(minibatches, 8 * minibatches);
    for (std::size_t slot = world.rank(); slot < minibatches; slot += world.size()) {
      const std::vector<float> gradient(all, static_cast<float>(slot));
      sync.accumulate({slot, 8, 0, 0}, gradient);
    }
    const UpdateSums result = sync.sum();
    sync.barrier();
    return result.stands;
  };
  double kept = 1;
  for (int i = 0; i < 6; ++i) {  // both ways of writing
    while (!sums()) {
    }
    update.prepare(update_rate, minibatches);
    update.run();
    sync.barrier();
    kept *= 0.9 * 0.9 * 0.9 * 0.9 * 0.9;
    const auto statistics = floats.subspan(block, all - block - 10);
    EXPECT_TRUE(std::ranges::all_of(
        statistics, [&](float moved) { return std::abs(moved - 2 * (1 - kept)) < 1e-5; }));
    sync.barrier();
  }
}

// On one node each block is updated while it is summed, on several after the sum: same bits.
TEST(SliceUpdate, DoesTheSameBlockByBlock) {
  const auto world = collectives::Communicator::world();
  for (const SumKind kind : {SumKind::exact, SumKind::fast}) {
    for (const std::size_t ranks_per_node : {1UL, 2UL, 5UL}) {
      const collectives::Topology topology(world, ranks_per_node);
      std::array<std::vector<float>, 2> results;
      for (const bool offers_use : {false, true}) {
        Memory memory(topology);
        GradientSync sync = automatic_sync(topology, kind);
        const auto optimizer =
            make_optimizer<float>({.name = "sgd", .momentum = momentum, .form = MomentumForm::v});
        SliceUpdate update(*optimizer, sync, memory.state);
        update.prepare(update_rate, minibatches);
        for (int round = 0; round < 2; ++round) {
          const UpdateSums sums = sum_minibatches(sync, world, offers_use ? &update : nullptr);
          EXPECT_EQ(sums.is_used, offers_use && topology.node_count() == 1);
          if (!sums.is_used) update.run();
          sync.barrier();
        }
        for (const std::span<const float> values :
             {std::span<const float>(memory.state.parameters),
              std::span<const float>(memory.state.optimizer_state[0])}) {
          results[offers_use ? 1 : 0].insert(results[offers_use ? 1 : 0].end(), values.begin(),
                                             values.end());
        }
        sync.barrier();
      }
      EXPECT_EQ(results[0], results[1]);
    }
  }
}

// Gradients that no rank has looked at may be anything: nobody is told a mean of theirs on the way.
TEST(SliceUpdate, TakesNoPartOfASumOfAFewMinibatches) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  for (const std::size_t few : {2UL, 4UL}) {
    Memory memory(topology);
    GradientSync sync = automatic_sync(topology, SumKind::exact);
    const auto optimizer = make_optimizer<float>({.name = "sgd", .momentum = momentum});
    SliceUpdate update(*optimizer, sync, memory.state);
    UpdateSums sums;
    do {
      update.prepare(update_rate, few);
      sync.begin(few, 8 * few);
      for (std::size_t slot = world.rank(); slot < few; slot += world.size()) {
        sync.accumulate({slot, 8, 0, 0}, gradient_sum(slot));
      }
      sums = sync.sum(0, {}, &update);
      EXPECT_FALSE(sums.is_used);
      sync.barrier();
    } while (!sums.stands);
  }
}

// What is left of the momentum of units that are never active; elsewhere such numbers are kept.
TEST(SliceUpdate, TakesDenormalNumbersForZero) {
  constexpr float denormal = 1e-40F;
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  for (const char* name : {"sgd", "lars"}) {
    for (const bool offers_use : {false, true}) {
      Memory memory(topology);
      const std::span<float> momenta = memory.state.optimizer_state[0];
      const auto optimizer = make_optimizer<float>({.name = name, .momentum = momentum});
      GradientSync sync = automatic_sync(topology, SumKind::exact);
      SliceUpdate update(*optimizer, sync, memory.state);
      if (topology.node().rank() == 0) std::ranges::fill(momenta, denormal);
      sync.barrier();

      update.prepare(update_rate, 1);
      sync.begin(1, 8);
      const std::vector<float> nothing(total_elements);
      if (world.rank() == 0) sync.accumulate({0, 8, 0, 0}, nothing);
      if (!sync.sum(0, {}, offers_use ? &update : nullptr).is_used) update.run();
      sync.barrier();

      for (const float value : momenta) ASSERT_EQ(value, 0.0F) << name;
      volatile float outside = denormal;
      EXPECT_GT(outside * 0.5F, 0.0F);
      sync.barrier();
    }
  }
}

}  // namespace
}  // namespace rubato::optim
