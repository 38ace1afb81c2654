// The state out of the parts of a run, and into those of another one.
#include "runtime/state_transfer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "data/errors.hpp"
#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"
#include "tests/runtime/small_runs.hpp"
#include "tests/runtime/uneven_run.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class StateTransferTest : public UnevenRunTest {
 protected:
  // The parts of a run, made by hand.
  struct Parts {
    explicit Parts(const collectives::Communicator& world, std::uint64_t initial_seed)
        : topology(world) {
      auto adam = optim::make_optimizer<float>({.name = "adam"});
      replica = std::make_unique<Replica>(
          topology, nn::make_model("mlp:4", {1, 1, 3}, 2, nn::backend("auto")), adam->state_names(),
          initial_seed);
      optimizer = optim::make_elastic_optimizer(
          "adascale", std::move(adam), optim::LearningRateSchedule({}), optim::ElasticOptions{8});
      sync = make_gradient_sync(topology, replica->layout());
    }
    StateParts all() { return {seed, *replica, *optimizer, *sync, cursor, audit}; }

    collectives::Topology topology;
    std::uint64_t seed = 9;
    std::unique_ptr<Replica> replica;
    std::unique_ptr<optim::ElasticOptimizer> optimizer;
    std::unique_ptr<optim::GradientSync> sync;
    data::Cursor cursor;
    SampleAudit audit;
  };

  // What refuses the state after a change to it; empty if nothing does.
  std::string refusal(const std::function<void(TrainingState&)>& change) {
    Parts parts(world, 1);
    TrainingState state;
    copy_state(parts.all(), state);
    change(state);
    std::string sentence;
    try {
      restore_state(state, parts.topology, parts.all());
    } catch (const data::ContentError& error) {
      sentence = error.what();
    }
    world.barrier();
    return sentence;
  }
};

TEST_F(StateTransferTest, WhatIsPutInComesOutAgain) {
  Parts from(world, 1);
  TrainingState state;
  copy_state(from.all(), state);
  state.cursor = {5, 6, 1, 7, 2, 99};
  state.audit = {1, 2, 3, 4};
  state.optimizer[1].values[0] = 0.5F;
  state.exact_exponents[2].exponent = -7;
  for (auto& scalar : state.scalars) scalar.value += 1;
  Parts to(world, 2);  // other initial weights
  TrainingState before;
  copy_state(to.all(), before);
  EXPECT_NE(state_digest(before), state_digest(state));
  world.barrier();
  restore_state(state, to.topology, to.all());
  TrainingState after;
  copy_state(to.all(), after);
  EXPECT_EQ(state_digest(after), state_digest(state));
  world.barrier();
}

TEST_F(StateTransferTest, WeightsAloneFillABuffer) {
  Parts parts(world, 1);
  TrainingState state;
  copy_state(parts.all(), state);
  world.barrier();
  const nn::Layout& layout = parts.replica->layout();
  std::vector<float> buffer(layout.total_elements(), 7.0F);
  copy_weights(state, layout, buffer);
  EXPECT_TRUE(std::ranges::equal(buffer, parts.replica->shared().parameters));  // padding is zero

  state.optimizer.clear();  // of no interest
  copy_weights(state, layout, buffer);
  state.model[2].shape = {1};
  EXPECT_THROW(copy_weights(state, layout, buffer), data::ContentError);
}

TEST_F(StateTransferTest, MemoryIsUsedAgain) {
  Parts parts(world, 1);
  TrainingState state;
  copy_state(parts.all(), state);
  const float* const memory = state.model[0].values.data();
  copy_state(parts.all(), state);
  EXPECT_EQ(state.model[0].values.data(), memory);
  world.barrier();
}

TEST_F(StateTransferTest, WhatDoesNotFitIsRefusedByName) {
  EXPECT_EQ(refusal([](TrainingState&) {}), "");
  EXPECT_THAT(refusal([](TrainingState& state) { state.model[1].name = "fc9.bias"; }),
              HasSubstr("no values for fc1.bias"));
  EXPECT_THAT(refusal([](TrainingState& state) {
                state.model[0].shape = {3, 4};
              }),
              HasSubstr("another shape for fc1.weight"));
  EXPECT_THAT(refusal([](TrainingState& state) { state.optimizer.pop_back(); }),
              HasSubstr("no values for exp_avg_sq/fc2.bias"));
  EXPECT_THAT(refusal([](TrainingState& state) {
                state.model.push_back({"fc3.bias", {1}, {0.0F}});
              }),
              HasSubstr("has 5 tensors where the run has 4"));
  EXPECT_THAT(refusal([](TrainingState& state) { state.scalars.pop_back(); }),
              HasSubstr("is missing"));
  EXPECT_THAT(refusal([](TrainingState& state) { state.exact_exponents.clear(); }),
              HasSubstr("no unit for fc1.weight"));
}

}  // namespace
}  // namespace rubato::runtime
