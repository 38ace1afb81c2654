// A model: something that turns a minibatch into a loss and a gradient, on flat buffers that it is
// handed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "nn/layout.hpp"

namespace rubato::nn {

// What a minibatch's random numbers (dropout) depend on, and nothing else.
struct MinibatchKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t minibatch = 0;  // its number within the epoch
};

// Told while a gradient is being computed: what is from this offset on is final, padding and
// running statistics, which lie last, included. It may be written over at once.
using IsFinalFrom = std::function<void(std::size_t offset)>;

// What the gradient of a weight of a dense layer is made of: of each sample, the gradient of the
// layer's outputs, and its inputs. The weight's gradient is the sum of their outer products. So
// samples x (outputs + inputs) numbers tell what else takes outputs x inputs.
struct Factors {
  std::size_t tensor = 0;                   // of the layout, of shape [outputs, inputs]
  std::span<const float> output_gradients;  // [samples, outputs], from a cache line on
  std::span<const float> inputs;            // [samples, inputs], likewise
};
using TakeFactors = std::function<void(const Factors&)>;

struct MinibatchView {
  std::span<const float> inputs;  // NHWC, labels.size() samples
  std::span<const std::int32_t> labels;
  MinibatchKey key;
  IsFinalFrom is_final_from = {};  // if set, told offsets that never rise, as often as may be
  TakeFactors take_factors = {};   // if set, told those of each factored tensor once, the last
                                   // tensor's first; valid during the call
};

struct MinibatchLoss {
  double loss_sum = 0;      // sum of the samples' losses, added in sample order
  std::size_t correct = 0;  // samples whose most likely class is their label (the lowest of equals)
};

// One sample's part of it.
struct SampleLoss {
  double loss = 0;
  bool is_correct = false;
};

class Model {
 public:
  virtual ~Model() = default;

  virtual const Layout& layout() const = 0;

  // Fills a whole buffer (total_elements, padding zero) with initial values: PyTorch's default
  // distributions, drawn from a counter-based generator keyed by (seed, tensor name).
  virtual void initialize(std::span<float> parameters, std::uint64_t seed) const = 0;

  // Uses the given values from now on. `parameters` (total_elements) must stay where it is; call
  // again after each change, so that kernel layouts are made once per update.
  virtual void use_parameters(std::span<const float> parameters) = 0;

  // Loss, and the SUM over the samples of the gradient: gradient (total_elements) is overwritten;
  // its part for running statistics receives the minibatch's own statistics (mean, unbiased
  // variance). Padding is zero. The first minibatch of a size may allocate memory (scratch, kernels
  // made for that size); later ones do not, as long as no more than eight sizes are in use.
  virtual MinibatchLoss gradient(const MinibatchView& minibatch, std::span<float> gradient) = 0;

  // The tensors whose gradients have factors, in the order of the layout.
  virtual std::vector<std::size_t> factored_tensors() const { return {}; }
  // The gradient of such a tensor, as gradient() computes it, with the same bits: `gradient` has
  // the tensor's size and begins at a cache line. Throws std::invalid_argument for another tensor.
  virtual void multiply_factors(const Factors& /*factors*/, std::span<float> /*gradient*/) {
    throw std::invalid_argument("the tensor's gradient has no factors");
  }

  // Loss in evaluation mode (running statistics, no dropout). `each` is empty, or receives the part
  // of every sample (labels.size()).
  virtual MinibatchLoss evaluate(std::span<const float> inputs,
                                 std::span<const std::int32_t> labels,
                                 std::span<SampleLoss> each = {}) = 0;
};

}  // namespace rubato::nn
