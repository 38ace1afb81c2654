// The mask is kept as factors for the backward pass: a multiplication is cheaper than drawing it
// twice.
#include "nn/dropout.hpp"

#include <algorithm>
#include <array>

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
  const std::span<float> factors = factors_.first(pass.input.size());
  std::array<std::uint32_t, 1024> words;
  for (std::size_t done = 0; done < factors.size(); done += words.size()) {
    const std::size_t count = std::min(words.size(), factors.size() - done);
    fill(stream, static_cast<std::uint32_t>(done / 4), std::span(words).first(count));
    const float scale = scale_;
    const float* __restrict const x = pass.input.data() + done;
    float* __restrict const factor = factors.data() + done;
    float* __restrict const y = pass.output.data() + done;
    for (std::size_t i = 0; i < count; ++i) {
      factor[i] = words[i] >= threshold ? scale : 0.0F;
      y[i] = x[i] * factor[i];
    }
  }
}

void Dropout::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  multiply_elements(pass.output_gradient, factors_.first(pass.input.size()), pass.input_gradient);
}

void Dropout::evaluate(const ForwardPass& pass) {
  std::copy(pass.input.begin(), pass.input.end(), pass.output.begin());
}

}  // namespace rubato::nn
