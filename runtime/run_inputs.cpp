// The reference batch, where none is given, is that of the first update; of an adaptive run, its
// initial batch, which the first update may exceed. So a schedule that is told how many updates an
// epoch has counts them, of an adaptive run and of its replay, at the reference batch.
#include "runtime/run_inputs.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "data/data_image.hpp"
#include "data/errors.hpp"
#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"
#include "runtime/batch_advisor.hpp"
#include "runtime/rule_options.hpp"

namespace rubato::runtime {

namespace {

// No batch may be larger than an epoch where an epoch is not left until it is used up.
optim::BatchLimits limits_for(const RunOptions& options, std::uint64_t samples, std::size_t ranks) {
  const optim::BatchLimits& limits = options.adaptive->limits;
  if (options.epoch_end == data::EpochEnd::carry) return limits;
  if (limits.initial_batch > samples) {
    throw std::invalid_argument("--adaptive: the initial batch is " +
                                std::to_string(limits.initial_batch) + ", expected at most the " +
                                std::to_string(samples) +
                                " samples of the data set; choose a smaller one, or --epoch-end "
                                "carry");
  }
  return limits_within(limits, samples, ranks);
}

// The maximum that cannot be met may be the data set's, which nobody gave.
optim::Configuration first_batch(const RunOptions& options, const optim::BatchLimits& limits,
                                 std::size_t ranks) {
  try {
    return initial_batch(limits, ranks);
  } catch (const std::invalid_argument& error) {
    if (limits.max_batch_size == options.adaptive->limits.max_batch_size) throw;
    throw std::invalid_argument(std::string(error.what()) +
                                " (the samples of the data set: --epoch-end carry allows more)");
  }
}

data::BatchTrace open_trace(const RunOptions& options,
                            const std::optional<optim::BatchLimits>& limits, std::size_t ranks) {
  if (limits) {
    const optim::Configuration first = first_batch(options, *limits, ranks);
    return data::BatchTrace::sparse({{0, first.batch, first.minibatch, 0}});
  }
  return options.trace_file.empty() ? data::BatchTrace::constant(options.batch_size)
                                    : data::BatchTrace::from_csv(options.trace_file);
}

// A constant batch that does not serve is a wrong option; a trace that does not, a wrong file.
data::TracePlan make_plan(const RunOptions& options, data::BatchTrace trace,
                          std::uint64_t samples) {
  const data::PlanOptions plan{.samples = samples,
                               .minibatch = options.minibatch,
                               .trace_end = options.trace_end,
                               .epoch_end = options.epoch_end,
                               .epochs = options.epochs,
                               .updates = options.updates};
  try {
    return data::TracePlan(std::move(trace), plan);
  } catch (const data::ContentError& error) {
    if (!options.trace_file.empty()) throw;
    throw std::invalid_argument(error.what());
  }
}

double reference_batch(const RunOptions& options, std::uint64_t first_batch) {
  return options.reference_batch.value_or(static_cast<double>(first_batch));
}

optim::LearningRateSchedule make_schedule(const RunOptions& options, const data::TracePlan& plan,
                                          std::uint64_t first_batch) {
  const auto first = static_cast<double>(first_batch);
  const double reference = reference_batch(options, first_batch);
  const bool may_be_replayed = plan.trace().has_minibatches();
  optim::LearningRateSchedule schedule(options.schedule);
  schedule.set_epochs(static_cast<double>(plan.epoch_samples()),
                      may_be_replayed ? reference : first, reference);
  return schedule;
}

}  // namespace

RunInputs open_inputs(const RunOptions& options, std::size_t ranks) {
  nn::check_arithmetic();
  const nn::Backend backend = nn::backend(options.backend);
  nn::select_kernels(backend, options.isa);
  data::DataSource source = data::open_data(options.data, options.data_image);
  if (options.evaluate_every && !source.test) {
    throw std::invalid_argument(
        "--evaluate-every: the data have no test set; give one with --test-data or --test-every");
  }
  std::optional<optim::BatchLimits> limits;
  if (options.adaptive) limits = limits_for(options, source.train->size(), ranks);
  data::TracePlan plan =
      make_plan(options, open_trace(options, limits, ranks), source.train->size());
  if (!plan.total_updates() && !options.until_progress) {
    throw std::invalid_argument(
        "the run has no end: give --epochs, --updates or --until-progress, or a trace that ends");
  }
  const data::SampleShape shape = source.train->shape();
  auto model = nn::make_model(options.model, {shape.height, shape.width, shape.channels},
                              source.train->classes(), backend);
  optim::require_rule_fits(options.rule, options.optimizer.name);
  const std::uint64_t first = limits ? limits->initial_batch : plan.trace().batch_size(0);
  auto optimizer = optim::make_elastic_optimizer(
      options.rule, optim::make_optimizer<float>(options.optimizer),
      make_schedule(options, plan, first),
      elastic_options(options, model->layout(), reference_batch(options, first),
                      plan.epoch_samples()));
  std::optional<data::CropFlip> augmentation;
  if (options.augmentation == data::Augmentation::crop_flip) {
    augmentation.emplace(shape, source.standardisation, options.seed);
  }
  return {std::move(source),    std::move(plan), std::move(model),
          std::move(optimizer), limits,          std::move(augmentation)};
}

}  // namespace rubato::runtime
