// Between the parts of a run and its training state: copied out at an update boundary, put back in
// when a run goes on.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/topology.hpp"
#include "data/trace_plan.hpp"
#include "nn/layout.hpp"
#include "optim/elastic_optimizer.hpp"
#include "optim/gradient_sync.hpp"
#include "runtime/replica.hpp"
#include "runtime/sample_audit.hpp"
#include "runtime/training_state.hpp"

namespace rubato::runtime {

// Where the state lives while a run is under way.
struct StateParts {
  std::uint64_t seed;
  Replica& replica;
  optim::ElasticOptimizer& optimizer;
  optim::GradientSync& sync;
  data::Cursor& cursor;
  SampleAudit& audit;
};

// Copies the state out of the node's memory; memory that `state` has from an earlier copy is used
// again. Not collective, but no rank may be writing weights meanwhile.
void copy_state(const StateParts& parts, TrainingState& state);

// Fills a model's buffer (layout.total_elements(), padding zero) with the weights and running
// statistics of a state. Throws data::ContentError naming what does not fit.
void copy_weights(const TrainingState& state, const nn::Layout& layout,
                  std::span<float> parameters);

// Throws data::ContentError naming what does not fit: a tensor that the model lacks, another shape,
// units that are missing.
void require_fit(const TrainingState& state, const StateParts& parts);

// Collective. Puts a state in that fits. Throws data::ContentError if its numbers are another
// optimizer's.
void restore_state(const TrainingState& state, const collectives::Topology& topology,
                   const StateParts& parts);

}  // namespace rubato::runtime
