// What a run's options, or those of a job's model, say of the rule that follows the batch.
#pragma once

#include <cstdint>

#include "nn/layout.hpp"
#include "optim/elastic_options.hpp"

namespace rubato::runtime {

// Options: RunOptions or ModelOptions, which name these alike.
template <class Options>
optim::ElasticOptions elastic_options(const Options& options, const nn::Layout& layout,
                                      double reference_batch, std::uint64_t epoch_samples) {
  optim::ElasticOptions elastic;
  elastic.reference_batch = reference_batch;
  elastic.single_minibatch = options.single_minibatch;
  elastic.noise_metric = options.noise_metric;
  elastic.clip_norm = options.clip_norm;
  elastic.legw_warmup_updates =
      options.legw_warmup.value_or(0) * static_cast<double>(epoch_samples) / reference_batch;
  if (options.measures_tensors) elastic.tensors = layout.parameter_names();
  return elastic;
}

}  // namespace rubato::runtime
