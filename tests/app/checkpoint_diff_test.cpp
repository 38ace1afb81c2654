// Differences of two states: none exactly if the digests are equal, and each told with its place.
#include "app/checkpoint_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <sstream>

#include "tests/runtime/example_state.hpp"

namespace rubato::app {
namespace {

using runtime::example_state;
using runtime::TrainingState;

std::string text_of_change(const std::function<void(TrainingState&)>& change) {
  TrainingState other = example_state();
  change(other);
  std::ostringstream text;
  print_differences(text, differences(example_state(), other));
  EXPECT_EQ(text.str() == "equal\n",
            runtime::state_digest(other) == runtime::state_digest(example_state()));
  return text.str();
}

TEST(CheckpointDiff, EqualStatesAreEqualInAnyOrder) {
  EXPECT_EQ(text_of_change([](TrainingState&) {}), "equal\n");
  EXPECT_EQ(text_of_change([](TrainingState& state) {
              std::swap(state.model[0], state.model[1]);
              std::swap(state.scalars[0], state.scalars[1]);
            }),
            "equal\n");
}

TEST(CheckpointDiff, FieldsAreNamedWithBothValues) {
  EXPECT_EQ(text_of_change([](TrainingState& state) {
              state.seed = 8;
              state.rule = "linear\x1b";
              state.cursor.row = 99;
              state.audit.run_digest = 1;
              state.scalars[0].value = 17.5;
              state.exact_exponents[0].exponent = 2;
            }),
            "seed: 7 in A, 8 in B\n"
            "rule: adascale in A, linear\\x1b in B\n"
            "cursor row: 13 in A, 99 in B\n"
            "audit run_digest: 78187493530 in A, 1 in B\n"
            "elastic progress: 17.25 in A, 17.5 in B\n"
            "exact_exponent fc.weight: unit 2^-3 in A, 2^2 in B\n");
}

// fc.weight is {{1, 2, 3}, {4, 5, 6.5}}.
TEST(CheckpointDiff, OfATensorTheFirstAndTheLargestAreTold) {
  EXPECT_EQ(text_of_change([](TrainingState& state) {
              state.model[0].values[3] = 4.25F;
              state.model[0].values[5] = -1.5F;
            }),
            "model fc.weight: 2 of 6 elements, largest difference 8; first [1, 0]: 4 in A, 4.25 in"
            " B\n");
}

TEST(CheckpointDiff, NumbersAreComparedAsBits) {
  EXPECT_EQ(
      text_of_change([](TrainingState& state) { state.optimizer[0].values[0] = -0.0F; }),
      "optimizer momentum/fc.weight: 1 of 6 elements, largest difference 0; first [0, 0]: 0 in"
      " A, -0 in B\n");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(text_of_change([nan](TrainingState& state) {
                state.model[1].values = {nan, 100};
              }),
              testing::HasSubstr("2 of 2 elements, largest difference nan; first [0]: -1 in A"));
  TrainingState state = example_state();
  state.model[1].values[0] = nan;
  EXPECT_TRUE(differences(state, state).empty());
}

TEST(CheckpointDiff, WhatIsMissingOrOfAnotherShapeIsTold) {
  EXPECT_EQ(text_of_change([](TrainingState& state) {
              state.model[0].shape = {3, 2};
              state.model.pop_back();
              state.scalars.push_back({"novelty", 1});
            }),
            "elastic novelty: only in B\n"
            "model fc.bias: only in A\n"
            "model fc.weight: shape [2, 3] in A, [3, 2] in B\n");
}

TEST(CheckpointDiff, AsJsonSaysWhetherTheyAreEqual) {
  std::ostringstream text;
  print_differences_as_json(text, {});
  EXPECT_EQ(text.str(), "{\n \"equal\": true,\n \"differences\": []\n}\n");
}

}  // namespace
}  // namespace rubato::app
