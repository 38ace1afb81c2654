// Each batch, or each sample, has a place of its own in the array that is summed over the ranks,
// where all others hold zero: an exact sum.
#include "runtime/evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "nn/aligned_buffer.hpp"

namespace rubato::runtime {

namespace {

// As many as the usual minibatch: so evaluating usually takes no more memory than training.
constexpr std::uint64_t batch_samples = 32;

}  // namespace

Evaluator::Evaluator(std::shared_ptr<const data::Dataset> test_set,
                     std::optional<std::uint64_t> every)
    : test_set_(std::move(test_set)), every_(every) {}

bool Evaluator::is_due(const data::PlannedUpdate& update) const {
  if (update.ends_epoch) return true;
  return every_ && update.end.samples / *every_ > update.begin.samples / *every_;
}

std::uint64_t Evaluator::batches() const {
  return (test_set_->size() + batch_samples - 1) / batch_samples;
}

void Evaluator::read_share(const collectives::Communicator& communicator, const Moving& moving,
                           const Take& take) const {
  const std::uint64_t most = std::min<std::uint64_t>(batch_samples, test_set_->size());
  nn::AlignedBuffer<float> inputs;  // or the model would make an aligned copy
  std::vector<std::int32_t> labels(most);
  std::vector<std::uint64_t> indices(most);
  for (std::uint64_t batch = communicator.rank(); batch < batches(); batch += communicator.size()) {
    if (moving) moving(false);
    const std::uint64_t begin = batch * batch_samples;
    const std::uint64_t size = std::min(batch_samples, test_set_->size() - begin);
    std::iota(indices.begin(), indices.end(), begin);
    const std::span<float> batch_inputs = inputs.first(size * test_set_->shape().size());
    const std::span<std::int32_t> batch_labels(labels.data(), size);
    test_set_->read({indices.data(), size}, batch_inputs, batch_labels);
    take(batch, batch_inputs, batch_labels);
  }
  if (moving) moving(true);
}

Evaluator::Result Evaluator::evaluate(const collectives::Communicator& communicator,
                                      nn::Model& model, const Moving& moving) const {
  std::vector<double> sums(2 * batches(), 0.0);  // loss and correct samples of each batch
  read_share(communicator, moving, [&](std::uint64_t batch, auto inputs, auto labels) {
    const nn::MinibatchLoss loss = model.evaluate(inputs, labels);
    sums[2 * batch] = loss.loss_sum;
    sums[2 * batch + 1] = static_cast<double>(loss.correct);
  });
  communicator.sum(sums);

  double loss = 0;
  double correct = 0;
  for (std::uint64_t batch = 0; batch < batches(); ++batch) {
    loss += sums[2 * batch];
    correct += sums[2 * batch + 1];
  }
  const auto samples = static_cast<double>(test_set_->size());
  return {loss / samples, correct / samples};
}

Evaluator::DetailedResult Evaluator::evaluate_classes(const collectives::Communicator& communicator,
                                                      nn::Model& model) const {
  const std::uint64_t samples = test_set_->size();
  std::vector<double> told(3 * samples, 0.0);  // of each sample: label, loss, whether correct
  std::vector<nn::SampleLoss> each(batch_samples);
  read_share(communicator, {}, [&](std::uint64_t batch, auto inputs, auto labels) {
    model.evaluate(inputs, labels, std::span(each).first(labels.size()));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      double* const sample = told.data() + 3 * (batch * batch_samples + i);
      sample[0] = labels[i];
      sample[1] = each[i].loss;
      sample[2] = each[i].is_correct ? 1 : 0;
    }
  });
  communicator.sum(told);

  DetailedResult result;
  result.classes.resize(test_set_->classes());
  double loss = 0;
  for (std::uint64_t begin = 0; begin < samples; begin += batch_samples) {
    double batch_loss = 0;
    for (std::uint64_t i = begin; i < std::min(begin + batch_samples, samples); ++i) {
      const double* const sample = told.data() + 3 * i;
      ClassResult& of_label = result.classes[static_cast<std::size_t>(sample[0])];
      ++of_label.samples;
      of_label.loss_sum += sample[1];
      batch_loss += sample[1];
      if (sample[2] == 0) continue;
      ++of_label.correct;
      ++result.correct;
    }
    loss += batch_loss;
  }
  result.all = {loss / static_cast<double>(samples),
                static_cast<double>(result.correct) / static_cast<double>(samples)};
  return result;
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
