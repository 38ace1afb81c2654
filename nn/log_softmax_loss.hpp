// Log-softmax and negative log-likelihood in one: loss = log(sum_j exp z_j) - z_label, gradient
// softmax(z) - onehot(label).
//
// In double from the logits on, shifted by the largest logit so that nothing overflows: a minibatch
// has few logits, and the loss is what people read.
#pragma once

#include <cstdint>
#include <span>

#include "nn/model.hpp"

namespace rubato::nn {

// `logits` is [samples, classes]. `gradient`, of the same size, receives the gradient of the loss
// sum; empty: only the loss. `each` is empty, or receives the part of every sample. Throws
// std::invalid_argument for a label outside [0, classes).
MinibatchLoss log_softmax_loss(std::span<const float> logits, std::span<const std::int32_t> labels,
                               std::size_t classes, std::span<float> gradient,
                               std::span<SampleLoss> each = {});

}  // namespace rubato::nn
