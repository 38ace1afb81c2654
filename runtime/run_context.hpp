// What a run was made of: for the record in metrics and checkpoints, for the agreement of all
// ranks, and for the one that goes on from a checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/topology.hpp"
#include "data/data_source.hpp"
#include "data/dataset.hpp"
#include "data/trace_plan.hpp"
#include "nn/layout.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/run_options.hpp"

namespace rubato::runtime {

// Program, compiler, kernels, time, hosts, data, options. Kernels must have been selected.
std::vector<ContextEntry> run_context(const RunOptions& options,
                                      const collectives::Topology& topology,
                                      const data::DataSource& source);

// The text of the run's config.ini; empty if the checkpoint has none.
std::string configuration_of(const Checkpoint& checkpoint);

// Whether the run that came to the checkpoint had a trace of these batch sizes.
bool is_trace_of(const Checkpoint& checkpoint, const data::BatchTrace& trace);

// What must be the same for the result to be the same, besides the options: program, compiler, C
// library, kernels, model, trace, data. On every rank of a run, and in a run that goes on from a
// checkpoint. Content counts, not names: a data set or a trace may have moved. Reads all data once.
std::vector<ContextEntry> run_identity(const RunOptions& options, const data::DataSource& source,
                                       const data::BatchTrace& trace, const nn::Layout& layout);

// The part of it that decides what an evaluation yields: program, compiler, C library, kernels,
// test data. Reads these once.
std::vector<ContextEntry> evaluation_identity(const std::string& backend,
                                              const data::Dataset& test_set);

// Whether an evaluation of this identity is on the very samples that the run was tested on; nothing
// if the checkpoint does not tell.
std::optional<bool> has_same_test_set(const Checkpoint& checkpoint,
                                      const std::vector<ContextEntry>& evaluation);

// For collectives::require_same().
std::vector<collectives::NamedValue> named_values(const std::vector<ContextEntry>& entries);

// Throws data::ContentError naming the first difference between a checkpoint's identity and the
// run's, with both values. With `any_kernels`, what only decides the last bits may differ: program,
// compiler, C library, kernels.
void require_same_run(const std::vector<ContextEntry>& checkpoint,
                      const std::vector<ContextEntry>& run, bool any_kernels);

// What an identity does not tell. Both throw std::invalid_argument: if the state is not one of a
// run with this seed and rule, or the cursor no place that its plan comes to.
void require_same_course(const TrainingState& state, std::uint64_t seed, const std::string& rule);
void require_passed(const data::TracePlan& plan, const data::Cursor& cursor);

}  // namespace rubato::runtime
