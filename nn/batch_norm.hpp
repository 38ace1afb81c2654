// Batch normalisation over the minibatch and its pixels, per channel: Ioffe and Szegedy, arXiv
// 1502.03167, algorithm 1; optionally ReLU behind it, or the sum with a shortcut and then ReLU, as
// at the end of a residual block.
//
// Each minibatch is normalised by its own statistics: they depend on the minibatch, never on how
// many ranks there are. The running statistics are not updated here: their part of the gradient
// receives this minibatch's mean and unbiased variance, and whoever owns the buffer moves them, z
// <- (1-a) z + a s.
#pragma once

#include "nn/channel_sums.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

enum class Ending { none, relu, addend_and_relu };

class BatchNorm final : public Layer {
 public:
  BatchNorm(std::string name, Shape input, Ending ending = Ending::none);

  std::vector<TensorSpec> tensors() const override;
  void use_parameters(ConstTensors tensors) override;
  // Throws std::invalid_argument where a channel has a single value: it has no variance.
  void forward(const ForwardPass& pass) override;
  void write_statistics(Tensors tensor_gradients) override;
  void backward(const BackwardPass& pass) override;
  void evaluate(const ForwardPass& pass) override;

 private:
  void measure(std::span<const float> input);
  void normalise(const ForwardPass& pass);
  template <Ending ending>
  void normalise(const ForwardPass& pass);
  // The gradient of the normalised value comes from `first` in the first walk, then from `second`.
  template <typename First, typename Second>
  void backward(const BackwardPass& pass, First first, Second second);
  template <typename Gradient>
  void sum_gradients(std::span<const float> input, Gradient gradient);
  template <typename Gradient>
  void write_input_gradient(const BackwardPass& pass, Gradient gradient);
  void write_parameter_gradients(const BackwardPass& pass) const;

  std::string name_;
  std::size_t channels_;
  Ending ending_;
  ChannelSums channel_sums_;
  std::vector<double> sums_;
  std::vector<double> second_sums_;
  double count_ = 0;                      // values of a channel in the last minibatch
  std::vector<float> mean_;               // of the statistics in use, per channel
  std::vector<float> inverse_deviation_;  // 1 / sqrt(variance + epsilon)
  std::vector<double> variance_;          // biased, as the normalisation uses it
  std::vector<float> lane_mean_;          // constants of the loops, one per lane
  std::vector<float> lane_scale_;
  std::vector<float> lane_bias_;
  std::vector<float> lane_shift_;
  std::vector<float> lane_slope_;
  std::span<const float> weight_;
  std::span<const float> bias_;
  std::span<const float> running_mean_;
  std::span<const float> running_variance_;
};

}  // namespace rubato::nn
