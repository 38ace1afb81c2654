// Each batch has a place of its own in the array that is summed over the ranks, where all others
// hold zero: an exact sum.
#include "runtime/evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <utility>

namespace rubato::runtime {

namespace {

constexpr std::uint64_t batch_samples = 256;

}  // namespace

Evaluator::Evaluator(std::shared_ptr<const data::Dataset> test_set,
                     std::optional<std::uint64_t> every)
    : test_set_(std::move(test_set)), every_(every) {}

bool Evaluator::is_due(const data::PlannedUpdate& update) const {
  if (update.ends_epoch) return true;
  return every_ && update.end.samples / *every_ > update.begin.samples / *every_;
}

Evaluator::Result Evaluator::evaluate(const collectives::Communicator& communicator,
                                      nn::Model& model, const Moving& moving) const {
  const std::uint64_t samples = test_set_->size();
  const std::uint64_t batches = (samples + batch_samples - 1) / batch_samples;
  std::vector<double> sums(2 * batches, 0.0);  // loss and correct samples of each batch
  std::vector<float> inputs(batch_samples * test_set_->shape().size());
  std::vector<std::int32_t> labels(batch_samples);
  std::vector<std::uint64_t> indices(batch_samples);

  for (std::uint64_t batch = communicator.rank(); batch < batches; batch += communicator.size()) {
    if (moving) moving(false);
    const std::uint64_t begin = batch * batch_samples;
    const std::uint64_t size = std::min(batch_samples, samples - begin);
    std::iota(indices.begin(), indices.end(), begin);
    const std::span<float> batch_inputs(inputs.data(), size * test_set_->shape().size());
    const std::span<std::int32_t> batch_labels(labels.data(), size);
    test_set_->read({indices.data(), size}, batch_inputs, batch_labels);
    const nn::MinibatchLoss loss = model.evaluate(batch_inputs, batch_labels);
    sums[2 * batch] = loss.loss_sum;
    sums[2 * batch + 1] = static_cast<double>(loss.correct);
  }
  if (moving) moving(true);
  communicator.sum(sums);

  double loss = 0;
  double correct = 0;
  for (std::uint64_t batch = 0; batch < batches; ++batch) {
    loss += sums[2 * batch];
    correct += sums[2 * batch + 1];
  }
  return {loss / static_cast<double>(samples), correct / static_cast<double>(samples)};
}

EvaluationReport Evaluator::report(const collectives::Communicator& communicator, nn::Model& model,
                                   const Moving& moving) const {
  const auto start = std::chrono::steady_clock::now();
  const Result result = evaluate(communicator, model, moving);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  EvaluationReport report;
  report.loss = result.loss;
  report.accuracy = result.accuracy;
  report.samples = test_set_->size();
  report.seconds = passed.count();
  return report;
}

}  // namespace rubato::runtime
