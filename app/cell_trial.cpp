// See cell_trial.hpp.
#include "app/cell_trial.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "runtime/seconds_since.hpp"

namespace rubato::app {
namespace {

constexpr double share_of_evaluating = 1.0 / 3;  // without the two gradients of each layer
constexpr double least_seconds = 0.05;           // of measuring
constexpr int most_tries = 20;

// Of the fastest of a few passes, after one that plans its memory.
double seconds_of_gradient(nn::Model& model, const nn::MinibatchView& minibatch) {
  const std::size_t elements = model.layout().total_elements();
  nn::AlignedBuffer<float> parameters;
  nn::AlignedBuffer<float> gradient;
  model.initialize(parameters.first(elements), 1);
  model.use_parameters(parameters.first(elements));
  model.gradient(minibatch, gradient.first(elements));
  const auto begin = std::chrono::steady_clock::now();
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < most_tries && (i == 0 || runtime::seconds_since(begin) < least_seconds);
       ++i) {
    const auto start = std::chrono::steady_clock::now();
    model.gradient(minibatch, gradient.first(elements));
    least = std::min(least, runtime::seconds_since(start));
  }
  return least;
}

// Of an epoch: its end, and what evaluate_every asks for before it.
std::uint64_t evaluations_of_an_epoch(const runtime::RunOptions& run, std::uint64_t samples) {
  return run.evaluate_every ? (samples - 1) / *run.evaluate_every + 1 : 1;
}

}  // namespace

std::optional<double> samples_of_a_core(const runtime::RunOptions& run,
                                        const runtime::RunInputs& inputs, std::uint64_t cores) {
  const data::TracePlan& plan = inputs.plan;
  if (!plan.total_samples()) return std::nullopt;
  auto samples = static_cast<double>(*plan.total_samples());
  if (inputs.source.test) {
    const auto epochs = samples / static_cast<double>(plan.epoch_samples());
    const auto evaluations = evaluations_of_an_epoch(run, plan.epoch_samples());
    samples += share_of_evaluating * epochs *
               static_cast<double>(evaluations * inputs.source.test->size());
  }
  return samples / static_cast<double>(std::min(cores, plan.most_minibatches()));
}

CellTrial::CellTrial(std::uint64_t ranks, std::uint64_t cores) : at_once_(std::min(ranks, cores)) {}

std::optional<double> CellTrial::seconds(const runtime::RunOptions& run) {
  runtime::RunInputs inputs = runtime::open_inputs(run);
  const auto samples = samples_of_a_core(run, inputs, at_once_);
  return samples ? std::optional(*samples * seconds_per_sample(run, inputs)) : std::nullopt;
}

double CellTrial::seconds_per_sample(const runtime::RunOptions& run, runtime::RunInputs& inputs) {
  const data::Dataset& dataset = *inputs.source.train;
  const auto size = std::min(inputs.plan.largest_minibatch(), dataset.size());
  const data::SampleShape shape = dataset.shape();
  std::string key = run.model + " " + run.backend + " " + run.isa;
  for (const auto number : {shape.height, shape.width, shape.channels, dataset.classes(), size}) {
    key.append(" ").append(std::to_string(number));
  }
  if (const auto known = measured_.find(key); known != measured_.end()) return known->second;
  std::vector<std::uint64_t> indices(size);
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<float> values(size * shape.size());
  std::vector<std::int32_t> labels(size);
  dataset.read(indices, values, labels);
  const double seconds = seconds_of_gradient(*inputs.model, {values, labels, {}, {}});
  return measured_[key] = seconds / static_cast<double>(size);
}

}  // namespace rubato::app
