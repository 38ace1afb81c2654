// The options that say which samples an update uses, and the plan made of them: shared by train,
// plan and trace check.
#pragma once

#include <cstdint>
#include <vector>

#include "app/options.hpp"
#include "data/batch_trace.hpp"
#include "data/trace_plan.hpp"

namespace rubato::app {

// --minibatch --trace --batch-size --epochs --updates --trace-end --epoch-end
std::vector<Option> plan_options();
// --seed --order --assignment: which samples, and which rank runs them. Only a run that measures
// its ranks can balance them.
std::vector<Option> order_options(bool measures_ranks);
// The sets of plan_options() that exclude each other.
std::vector<std::vector<std::string>> plan_alternatives();

// --samples --data: how large the training set is, for commands that need no more of it.
std::vector<Option> size_options();
std::uint64_t training_samples(const Options& options);  // throws UsageError if neither is given

// The trace of --trace or --batch-size. Throws UsageError if neither is given. What there is to
// warn of is in BatchTrace::warnings().
data::BatchTrace read_trace(const Options& options);

// The plan for a training set of so many samples. A trace file that does not serve is
// data::ContentError; a --batch-size that does not serve is UsageError.
data::TracePlan make_plan(data::BatchTrace trace, const Options& options, std::uint64_t samples);

// Throws UsageError if the plan would go on for ever.
void require_end(const data::TracePlan& plan);

}  // namespace rubato::app
