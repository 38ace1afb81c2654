// Which of oneDNN's kernels compute a convolution at a minibatch size, and in what order they want
// activations and weights.
//
// Direct kernels take activations in any order, both in the same; those of AVX2 are faster where
// channels lie in blocks of 8. Those of Winograd's algorithm, F(4x4, 3x3) of Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks" (2016), section 4.3, take 36 multiplications for 16
// outputs of a channel instead of 144. They want channels in blocks of 16, and AVX-512.
#pragma once

#include <cstddef>

#include "nn/convolution.hpp"
#include "nn/onednn.hpp"

namespace rubato::nn {

struct ConvolutionDescriptions {
  // With Backend::onednn Winograd's, or those for blocks of 8, where they pay.
  ConvolutionDescriptions(const ConvolutionGeometry& geometry, std::size_t samples,
                          Backend backend);

  dnnl::memory::desc network_input, network_output;
  dnnl::memory::desc input, output;  // as the three kernels want them: in this order
  Order order = Order::channels_last;
  dnnl::memory::desc plain_weights;
  dnnl::memory::desc bias;  // empty: none
  dnnl::convolution_forward::primitive_desc forward;
  dnnl::convolution_backward_data::primitive_desc backward_data;
  dnnl::convolution_backward_weights::primitive_desc backward_weights;
  dnnl::memory::desc weight_gradient;  // as backward_weights makes it, or as weight_gradient_3x3()

  bool is_winograd = false;
  bool has_own_weight_gradient = false;

 private:
  // With activations in this order. False where oneDNN has no Winograd for this shape on this
  // machine.
  bool choose(dnnl::algorithm algorithm, Order its_order, const ConvolutionGeometry& geometry,
              std::size_t samples);
};

// By shape and minibatch size, not by a clock: ranks and runs must agree on it.
bool winograd_pays(const ConvolutionGeometry& geometry, std::size_t samples);

}  // namespace rubato::nn
