// The bias of a dense layer or a convolution: one number per channel, added at every pixel.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nn/channel_sums.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

class Bias {
 public:
  explicit Bias(const ChannelLanes& lanes);

  // values += bias, then the activation, in one pass; of channels side by side.
  void add(std::span<const float> bias, Activation activation, std::span<float> values) const;
  // The gradient of the bias: sums over all pixels of all samples.
  void gradient(std::span<const float> output_gradient, std::span<float> bias_gradient);

 private:
  ChannelSums channel_sums_;
  std::vector<double> sums_;
};

}  // namespace rubato::nn
