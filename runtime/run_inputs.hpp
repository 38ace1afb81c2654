// What a run works with: data, plan, model and optimizer, made from its options.
#pragma once

#include <memory>

#include "data/crop_flip.hpp"
#include "data/data_source.hpp"
#include "data/trace_plan.hpp"
#include "nn/model.hpp"
#include "optim/elastic_optimizer.hpp"
#include "runtime/run_options.hpp"

namespace rubato::runtime {

struct RunInputs {
  data::DataSource source;
  data::TracePlan plan;
  std::unique_ptr<nn::Model> model;
  std::unique_ptr<optim::ElasticOptimizer> optimizer;
  std::optional<optim::BatchLimits> limits = {};
  std::optional<data::CropFlip> augmentation = {};
};

// Selects the kernels, opens the files, checks that all of it goes together. Not collective. Throws
// std::invalid_argument for an option, data::MissingFileError or data::ContentError for a file.
//
// Of an adaptive run, the plan begins with the batch for so many ranks, and `limits` are those that
// its data set can serve.
RunInputs open_inputs(const RunOptions& options, std::size_t ranks = 1);

}  // namespace rubato::runtime
