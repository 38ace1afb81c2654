// What a job is made of, and must be made of when it goes on.
#pragma once

#include <vector>

#include "runtime/checkpoint.hpp"
#include "runtime/run_log.hpp"

namespace rubato::runtime {

class AdaptiveDataLoader;
class Job;

// As run_identity(), and what a run has in its configuration: model, optimizer, loaders. Reads the
// training data once.
std::vector<ContextEntry> job_identity(const Job& job,
                                       const std::vector<AdaptiveDataLoader*>& loaders);

// For its logs.
RunFacts job_facts(const Job& job);

}  // namespace rubato::runtime
