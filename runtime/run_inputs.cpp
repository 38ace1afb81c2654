// The reference batch, where none is given, is that of the first update.
#include "runtime/run_inputs.hpp"

#include <stdexcept>
#include <utility>

#include "data/errors.hpp"
#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::runtime {

namespace {

data::BatchTrace open_trace(const RunOptions& options) {
  return options.trace_file.empty() ? data::BatchTrace::constant(options.batch_size)
                                    : data::BatchTrace::from_csv(options.trace_file);
}

// A constant batch that does not serve is a wrong option; a trace that does not, a wrong file.
data::TracePlan make_plan(const RunOptions& options, std::uint64_t samples) {
  const data::PlanOptions plan{.samples = samples,
                               .minibatch = options.minibatch,
                               .trace_end = options.trace_end,
                               .epoch_end = options.epoch_end,
                               .epochs = options.epochs,
                               .updates = options.updates};
  try {
    return data::TracePlan(open_trace(options), plan);
  } catch (const data::ContentError& error) {
    if (!options.trace_file.empty()) throw;
    throw std::invalid_argument(error.what());
  }
}

}  // namespace

RunInputs open_inputs(const RunOptions& options) {
  nn::check_arithmetic();
  const nn::Backend backend = nn::backend(options.backend);
  nn::select_kernels(backend, options.isa);
  data::DataSource source = data::open_data(options.data);
  data::TracePlan plan = make_plan(options, source.train->size());
  if (!plan.total_updates() && !options.until_progress) {
    throw std::invalid_argument(
        "the run has no end: give --epochs, --updates or --until-progress, or a trace that ends");
  }
  const data::SampleShape shape = source.train->shape();
  auto model = nn::make_model(options.model, {shape.height, shape.width, shape.channels},
                              source.train->classes(), backend);
  const double reference =
      options.reference_batch.value_or(static_cast<double>(plan.trace().batch_size(0)));
  auto optimizer = optim::make_elastic_optimizer(
      options.rule, optim::make_optimizer<float>(options.optimizer),
      optim::LearningRateSchedule(options.schedule), optim::ElasticOptions{reference});
  return {std::move(source), std::move(plan), std::move(model), std::move(optimizer)};
}

}  // namespace rubato::runtime
