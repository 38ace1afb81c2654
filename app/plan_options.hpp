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
// --seed --order --assignment: which samples, and which rank runs them.
std::vector<Option> order_options();
// The sets of plan_options() that exclude each other.
std::vector<std::vector<std::string>> plan_alternatives();

// The trace of --trace or --batch-size. Throws UsageError if neither is given. What there is to
// warn of is in BatchTrace::warnings().
data::BatchTrace read_trace(const Options& options);

// The plan for a training set of so many samples. A trace file that does not serve is
// data::ContentError; a --batch-size that does not serve is UsageError.
data::TracePlan make_plan(data::BatchTrace trace, const Options& options, std::uint64_t samples);

}  // namespace rubato::app
