// A chain of layers with log-softmax and negative log-likelihood behind the last.
//
// It places the layers' tensors in the flat buffer, owns the activations between them, and takes a
// minibatch forwards and backwards through the chain. What a minibatch yields depends on weights,
// inputs, labels and key alone: all memory is addressed by the minibatch's own size, and what is
// not aligned to a cache line is first copied to where it is, since matrix kernels may take another
// path, and another rounding, at odd addresses.
#pragma once

#include <memory>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "nn/layer.hpp"
#include "nn/model.hpp"

namespace rubato::nn {

class Sequential final : public Model {
 public:
  // Each layer's input has as many elements as the layer's before has outputs; the last layer's
  // outputs are the classes.
  explicit Sequential(std::vector<std::unique_ptr<Layer>> layers);

  const Layout& layout() const override { return layout_; }
  void initialize(std::span<float> parameters, std::uint64_t seed) const override;
  void use_parameters(std::span<const float> parameters) override;
  MinibatchLoss gradient(const MinibatchView& minibatch, std::span<float> gradient) override;
  MinibatchLoss evaluate(std::span<const float> inputs,
                         std::span<const std::int32_t> labels) override;

 private:
  // A layer, its tensors' indices in the layout, and views of them that are refilled without
  // allocating.
  struct Stage {
    std::unique_ptr<Layer> layer;
    std::vector<std::size_t> tensors;
    std::vector<std::span<const float>> values;
    std::vector<std::span<float>> gradients;
    AlignedBuffer<float> output;
  };

  void place_tensors(bool parameters);
  void check(std::span<const float> inputs, std::span<const std::int32_t> labels) const;
  std::span<const float> aligned_inputs(std::span<const float> inputs);
  std::size_t classes() const { return stages_.back().layer->output_shape().elements(); }
  void backward(std::span<const float> inputs, std::size_t samples, std::span<float> gradient,
                const IsFinalFrom& is_final_from);
  void clear_padding(std::span<float> buffer) const;
  void clear_padding_after(std::size_t tensor, std::span<float> buffer) const;

  std::vector<Stage> stages_;
  std::vector<TensorSpec> specs_;  // in the order of the layout
  Layout layout_;
  bool has_parameters_ = false;
  AlignedBuffer<float> aligned_inputs_;
  AlignedBuffer<float> aligned_parameters_;
  AlignedBuffer<float> aligned_gradient_;
  AlignedBuffer<float> activation_gradients_[2];  // of a layer's output and of its input, in turn
};

}  // namespace rubato::nn
