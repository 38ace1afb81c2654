// The whole state of a run at an update boundary, by name and without any rank in it; and its
// digest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/trace_plan.hpp"
#include "optim/optimizer.hpp"
#include "runtime/sample_audit.hpp"

namespace rubato::runtime {

struct NamedTensor {
  std::string name;  // "conv1.weight"; of optimizer state "momentum/conv1.weight"
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

struct NamedExponent {
  std::string name;  // the tensor's
  std::int32_t exponent;
};

struct TrainingState {
  std::uint64_t seed = 0;
  std::string rule;
  data::Cursor cursor;
  SampleAudit audit;                           // which samples were used so far
  std::vector<NamedTensor> model;              // parameters and running statistics
  std::vector<NamedTensor> optimizer;          // per-parameter state
  std::vector<optim::NamedScalar> scalars;     // of the elastic optimizer, inner ones included
  std::vector<NamedExponent> exact_exponents;  // units of the exact sum, of each model tensor
};

// SHA-256 over the state, in hexadecimal: every name, shape and value, sorted by name,
// little-endian, lengths first. Equal states have equal digests, whatever file, machine or number
// of ranks they come from.
std::string state_digest(const TrainingState& state);

}  // namespace rubato::runtime
