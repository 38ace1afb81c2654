// What a run was made of: for the record in metrics and checkpoints, and for the agreement of all
// ranks.
#pragma once

#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/topology.hpp"
#include "data/data_source.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/run_options.hpp"

namespace rubato::runtime {

// Program, compiler, kernels, time, hosts, data, options. Kernels must have been selected.
std::vector<ContextEntry> run_context(const RunOptions& options,
                                      const collectives::Topology& topology,
                                      const data::DataSource& source);

// What must be the same on every rank for the result to be the same: program, compiler, C library,
// kernels, options, data.
std::vector<collectives::NamedValue> agreed_values(const RunOptions& options,
                                                   const data::DataSource& source,
                                                   const data::BatchTrace& trace);

}  // namespace rubato::runtime
