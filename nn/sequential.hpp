// A chain of layers, with shortcuts past some of them, and log-softmax and negative log-likelihood
// behind the last.
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
#include "nn/memory_plan.hpp"
#include "nn/model.hpp"

namespace rubato::nn {

// A layer and the layers whose outputs it takes, by number; `absent` for the model's input, and for
// a layer without an addend.
struct Link {
  std::unique_ptr<Layer> layer;
  std::size_t input = absent;
  std::size_t addend = absent;
};

class Sequential final : public Model {
 public:
  // In the order of the forward pass. A layer takes as many elements as its input yields, and
  // yields as many as its addend, channels in the same order (the model's input has them last); the
  // last layer's outputs are the classes. Throws std::invalid_argument.
  explicit Sequential(std::vector<Link> layers);

  const Layout& layout() const override { return layout_; }
  void initialize(std::span<float> parameters, std::uint64_t seed) const override;
  void use_parameters(std::span<const float> parameters) override;
  MinibatchLoss gradient(const MinibatchView& minibatch, std::span<float> gradient) override;
  std::vector<std::size_t> factored_tensors() const override;
  void multiply_factors(const Factors& factors, std::span<float> gradient) override;
  MinibatchLoss evaluate(std::span<const float> inputs, std::span<const std::int32_t> labels,
                         std::span<SampleLoss> each) override;

 private:
  // A layer, where its input comes from, its tensors' indices in the layout, and views of them that
  // are refilled without allocating.
  struct Stage {
    std::unique_ptr<Layer> layer;
    std::size_t input;
    std::size_t addend;
    std::vector<std::size_t> tensors;
    std::vector<std::span<const float>> values;
    std::vector<std::span<float>> gradients;
  };

  void plan_memory();
  void place_tensors(bool parameters);
  void check(std::span<const float> inputs, std::span<const std::int32_t> labels) const;
  std::span<const float> aligned_inputs(std::span<const float> inputs);
  std::size_t output_size(std::size_t stage) const {
    return stages_[stage].layer->output_shape().elements();
  }
  std::size_t classes() const { return output_size(stages_.size() - 1); }
  // Before a pass, all at once: growing loses what is there.
  void make_room(const MemoryPlan& plan, std::size_t samples) {
    memory_.first(samples * plan.size);
  }
  // Of so many samples, at that place of a plan; empty if it is absent.
  std::span<float> at(std::size_t place, std::size_t samples, std::size_t sample_size);
  // What a stage takes and yields; the outputs hold what the stages before have computed.
  ForwardPass forward_pass(const MemoryPlan& plan, std::size_t stage, std::span<const float> inputs,
                           std::size_t samples);
  BackwardPass backward_pass(std::size_t stage, std::span<const float> inputs, std::size_t samples);
  void place_gradients(std::span<float> gradient);
  void write_statistics(std::span<float> gradient);
  void backward(std::span<const float> inputs, const MinibatchView& minibatch,
                std::span<float> gradient, const IsFinalFrom& is_final_from);
  void clear_padding(std::span<float> buffer) const;
  void clear_padding_after(std::size_t tensor, std::span<float> buffer) const;

  std::vector<Stage> stages_;
  std::vector<TensorSpec> specs_;  // in the order of the layout
  Layout layout_;
  bool has_parameters_ = false;
  AlignedBuffer<float> aligned_inputs_;
  AlignedBuffer<float> aligned_parameters_;
  AlignedBuffer<float> aligned_gradient_;
  MemoryPlan training_, evaluation_;  // in floats per sample, whole cache lines
  AlignedBuffer<float> memory_;       // which they plan
};

}  // namespace rubato::nn
