// See job_identity.hpp.
#include "runtime/job_identity.hpp"

#include <algorithm>
#include <string>

#include "runtime/adaptive_data_loader.hpp"
#include "runtime/adaptive_data_parallel.hpp"
#include "runtime/job.hpp"
#include "runtime/run_context.hpp"

namespace rubato::runtime {

namespace {

RunOptions options_of(const Job& job, const AdaptiveDataLoader& loader) {
  RunOptions options = job.run();
  if (loader.is_adaptive()) options.adaptive.emplace();
  return options;
}

}  // namespace

std::vector<ContextEntry> job_identity(const Job& job,
                                       const std::vector<AdaptiveDataLoader*>& loaders) {
  std::vector<ContextEntry> identity;
  const AdaptiveDataLoader* const trained = job.trained_loader();
  if (job.model() != nullptr) {
    data::DataSource source;
    source.train = trained->dataset();
    identity = run_identity(options_of(job, *trained), source, trained->plan().trace(),
                            job.model()->layout());
    std::erase_if(identity, [](const ContextEntry& entry) { return entry.name == "the test set"; });
  }
  identity.push_back({"the model", job.model() == nullptr ? "none" : job.model()->description()});
  identity.push_back({"the seed", std::to_string(job.options().seed)});
  std::string description;
  for (const AdaptiveDataLoader* one : loaders) {
    description += (description.empty() ? "" : "; ") + (one ? one->description() : "gone");
  }
  identity.push_back({"the loaders", description});
  return identity;
}

RunFacts job_facts(const Job& job) {
  RunFacts facts;
  const AdaptiveDataLoader* const trained = job.trained_loader();
  data::DataSource source;
  if (trained != nullptr) {
    source.train = trained->dataset();
    facts.training_samples = source.train->size();
  }
  facts.context = run_context(job.run(), job.topology(), source);
  std::erase_if(facts.context, [](const ContextEntry& entry) {  // of what a program knows alone
    return entry.name == "data" || entry.name == "standardisation" || entry.name == "model" ||
           entry.name == "configuration";
  });
  facts.ranks = job.communicator().size();
  facts.hosts = job.topology().hosts();
  if (job.model() == nullptr) return facts;
  facts.model = job.model()->description();
  facts.parameters = job.model()->layout().parameter_count();
  facts.reference_batch = job.model()->reference_batch();
  return facts;
}

}  // namespace rubato::runtime
