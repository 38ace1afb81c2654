// What --adaptive and the options with it say: the batch sizes that a run may choose from.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "app/options.hpp"
#include "optim/batch_candidates.hpp"

namespace rubato::app {

// --adaptive --fixed-minibatch --below-initial
std::vector<Option> adaptive_options();

// Nothing without --adaptive. `options` are of train_table(). Throws UsageError for limits that
// make no sense on any number of ranks, and for a rule that cannot follow a changing batch.
std::optional<optim::BatchLimits> batch_limits(const Options& options);

}  // namespace rubato::app
