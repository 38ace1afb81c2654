// Sample by sample, classes in order.
#include "nn/log_softmax_loss.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace rubato::nn {
namespace {

std::size_t checked_label(std::span<const std::int32_t> labels, std::size_t sample,
                          std::size_t classes) {
  const std::int32_t label = labels[sample];
  if (label < 0 || static_cast<std::size_t>(label) >= classes) {
    throw std::invalid_argument("label " + std::to_string(label) + " of the minibatch's sample " +
                                std::to_string(sample) + " is outside the model's classes 0 to " +
                                std::to_string(classes - 1));
  }
  return static_cast<std::size_t>(label);
}

// Shifted exponentials and their sum.
double log_sum_exp(std::span<const float> logits, float largest) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  return static_cast<double>(largest) + std::log(sum);
}

}  // namespace

MinibatchLoss log_softmax_loss(std::span<const float> logits, std::span<const std::int32_t> labels,
                               std::size_t classes, std::span<float> gradient,
                               std::span<SampleLoss> each) {
  MinibatchLoss result;
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    const std::size_t label = checked_label(labels, sample, classes);
    const std::span<const float> z = logits.subspan(sample * classes, classes);
    const auto largest = std::max_element(z.begin(), z.end());  // the first of equals
    const double log_sum = log_sum_exp(z, *largest);
    const double loss = log_sum - static_cast<double>(z[label]);
    const bool is_correct = static_cast<std::size_t>(largest - z.begin()) == label;
    result.loss_sum += loss;
    if (is_correct) ++result.correct;
    if (!each.empty()) each[sample] = {loss, is_correct};
    if (gradient.empty()) continue;
    for (std::size_t c = 0; c < classes; ++c) {
      const double probability = std::exp(static_cast<double>(z[c]) - log_sum);
      gradient[sample * classes + c] = static_cast<float>(probability - (c == label ? 1.0 : 0.0));
    }
  }
  return result;
}

}  // namespace rubato::nn
