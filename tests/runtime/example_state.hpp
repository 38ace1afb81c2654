// A training state with something in every part of it.
#pragma once

#include "runtime/training_state.hpp"

namespace rubato::runtime {

inline TrainingState example_state() {
  TrainingState state;
  state.seed = 7;
  state.rule = "adascale";
  state.cursor = {12, 13, 2, 96, 5, 1234};
  state.audit = {2, 300, 0xabcdef, 0x123456789a};
  state.model = {{"fc.weight", {2, 3}, {1, 2, 3, 4, 5, 6.5F}}, {"fc.bias", {2}, {-1, 0.25F}}};
  state.optimizer = {{"momentum/fc.weight", {2, 3}, {0, 0, 1, 0, 0, 0}},
                     {"momentum/fc.bias", {2}, {9, -9}}};
  state.scalars = {{"progress", 17.25}, {"noise.variance", 1e-3}};
  state.exact_exponents = {{"fc.weight", -3}, {"fc.bias", 4}};
  return state;
}

}  // namespace rubato::runtime
