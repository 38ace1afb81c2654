// The options of rubato evaluate, and what they leave of the run that a checkpoint is of.
#pragma once

#include <string>

#include "app/options.hpp"
#include "data/data_source.hpp"

namespace rubato::app {

OptionTable evaluate_table();

// What is evaluated: on which data, with which model and kernels.
struct EvaluationTask {
  data::DataOptions data;
  std::string model;
  std::string backend;
  std::string isa;
};

// `options` are of evaluate_table(); beneath them lies the configuration of the run (as
// runtime::configuration_of(); empty: it has none). Throws UsageError where a name is not known
// (with the nearest) or where neither says what to evaluate; data::ContentError for the
// configuration.
EvaluationTask evaluation_task(const Options& options, const std::string& configuration);

}  // namespace rubato::app
