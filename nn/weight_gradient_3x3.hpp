// The gradient of a 3x3 convolution's weights, dw[o, i, y, x] = the sum over samples and pixels of
// dy[o, pixel] times the pixel of input channel i that weight (y, x) meets there, by a kernel of
// our own. oneDNN's for AVX2 takes a third to twice as long again (layers_bench).
#pragma once

#include <cstddef>
#include <span>

#include "nn/convolution.hpp"

namespace rubato::nn {

// Where input channels are a multiple of 8, output channels of 16, and few enough of both that the
// sums stay in the second-level cache; in builds for processors with AVX2's fused products.
bool has_weight_gradient_3x3(const ConvolutionGeometry& geometry);

// What weight_gradient_3x3() takes of its scratch space.
std::size_t weight_gradient_3x3_scratch_floats(const ConvolutionGeometry& geometry);

// Values of the minibatch in the orders of geometry.input and geometry.output(). The gradient lies
// in blocks, [outputs / 8, inputs / 8, 3, 3, input of the block, output of the block]. A weight's
// products are summed over some rows of pixels, such sums over the rows and samples in their order.
// Outside of the image the input is taken as zeros.
void weight_gradient_3x3(const ConvolutionGeometry& geometry, std::span<const float> input,
                         std::span<const float> output_gradient, std::span<float> scratch,
                         std::span<float> gradient);

}  // namespace rubato::nn
