// The mask is kept as factors for the backward pass: a multiplication is cheaper than drawing it
// twice.
#include "nn/dropout.hpp"

#include <algorithm>

#include "nn/philox.hpp"

namespace rubato::nn {
namespace {

void multiply_elements(std::span<const float> values, std::span<const float> factors,
                       std::span<float> products) {
  const float* __restrict const a = values.data();
  const float* __restrict const b = factors.data();
  float* __restrict const c = products.data();
  const std::size_t count = products.size();
  for (std::size_t i = 0; i < count; ++i) c[i] = a[i] * b[i];
}

void keep_or_drop(Words words, std::uint32_t threshold, float scale, const float* __restrict x,
                  float* __restrict factors, float* __restrict products) {
  const std::uint32_t* __restrict const word = words.data();
  const std::size_t count = words.size();
  for (std::size_t i = 0; i < count; ++i) {
    factors[i] = word[i] >= threshold ? scale : 0.0F;
    products[i] = x[i] * factors[i];
  }
}

}  // namespace

Dropout::Dropout(Shape input, double probability, std::uint32_t layer_number)
    : Layer(input, input),
      probability_(probability),
      scale_(static_cast<float>(1.0 / (1.0 - probability))),
      layer_number_(layer_number) {}

void Dropout::forward(const ForwardPass& pass) {
  const MinibatchKey& key = pass.key;
  const PhiloxStream stream{key.seed, layer_number_, static_cast<std::uint32_t>(key.minibatch),
                            static_cast<std::uint32_t>(key.epoch)};
  const auto threshold = static_cast<std::uint32_t>(probability_ * 0x1p32);
  const float* const x = pass.input.data();
  float* const factors = factors_.first(pass.input.size()).data();
  float* const y = pass.output.data();
  for_each_piece(stream, pass.input.size(), [=, scale = scale_](std::size_t place, Words words) {
    keep_or_drop(words, threshold, scale, x + place, factors + place, y + place);
  });
}

void Dropout::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  multiply_elements(pass.output_gradient, factors_.first(pass.input.size()), pass.input_gradient);
}

void Dropout::evaluate(const ForwardPass& pass) {
  std::copy(pass.input.begin(), pass.input.end(), pass.output.begin());
}

}  // namespace rubato::nn
