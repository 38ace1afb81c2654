// The state digest: blind to order, and to nothing else.
#include "runtime/training_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/runtime/example_state.hpp"

namespace rubato::runtime {
namespace {

TEST(StateDigest, IsTheSameForTheSameStateInAnotherOrder) {
  TrainingState other = example_state();
  std::reverse(other.model.begin(), other.model.end());
  std::reverse(other.optimizer.begin(), other.optimizer.end());
  std::reverse(other.scalars.begin(), other.scalars.end());
  std::reverse(other.exact_exponents.begin(), other.exact_exponents.end());
  EXPECT_EQ(state_digest(other), state_digest(example_state()));
}

TEST(StateDigest, SeesEverySingleChange) {
  const std::vector<std::function<void(TrainingState&)>> changes{
      [](TrainingState& state) { state.seed += 1; },
      [](TrainingState& state) { state.rule = "linear"; },
      [](TrainingState& state) { state.cursor.update += 1; },
      [](TrainingState& state) { state.cursor.row += 1; },
      [](TrainingState& state) { state.cursor.epoch += 1; },
      [](TrainingState& state) { state.cursor.position += 1; },
      [](TrainingState& state) { state.cursor.minibatch += 1; },
      [](TrainingState& state) { state.cursor.samples += 1; },
      [](TrainingState& state) { state.audit.epoch += 1; },
      [](TrainingState& state) { state.audit.epoch_samples += 1; },
      [](TrainingState& state) { state.audit.epoch_digest += 1; },
      [](TrainingState& state) { state.audit.run_digest += 1; },
      [](TrainingState& state) { state.model[0].values[5] = 6.5000005F; },
      [](TrainingState& state) { state.model[0].name = "fc2.weight"; },
      [](TrainingState& state) {
        state.model[0].shape = {3, 2};
      },
      [](TrainingState& state) { state.model[1].values[0] = -0.0F; },
      [](TrainingState& state) { state.model.pop_back(); },
      [](TrainingState& state) { state.optimizer[1].values[1] = 9; },
      [](TrainingState& state) { state.scalars[0].value += 1e-12; },
      [](TrainingState& state) { state.scalars[1].name = "noise.square"; },
      [](TrainingState& state) { state.exact_exponents[0].exponent = -4; },
  };
  std::set<std::string> digests{state_digest(example_state())};
  for (const auto& change : changes) {
    TrainingState state = example_state();
    change(state);
    EXPECT_TRUE(digests.insert(state_digest(state)).second) << "change " << digests.size();
  }
}

}  // namespace
}  // namespace rubato::runtime
