// The passes of a convolution whose input has one channel, as grey images have: of such networks
// the first layer, on whose inputs a kernel's usual way, products over channels, finds nothing to
// do.
//
// Lanes are output channels: a pixel of the input times a vector of weights. The passes are
// compiled for vectors of two widths, and the processor says at run time which it has. The bits are
// the same: a sum begins with the bias and goes over the kernel in the order of its weights; a
// weight's gradient is added up over the pixels of a sample, row by row, then over the samples.
#pragma once

#include <cstddef>

namespace rubato::nn {

struct OneChannelShape {
  std::size_t height = 0, width = 0;  // of the input
  std::size_t outputs = 0;            // channels
  std::size_t kernel = 0;             // height and width: 3 or 5

  // Never functions of their own, as code for wide vectors calls them (check_wide_code.py).
  [[gnu::always_inline]] std::size_t output_height() const noexcept { return height - kernel + 1; }
  [[gnu::always_inline]] std::size_t output_width() const noexcept { return width - kernel + 1; }
  // Of weights [kernel, kernel, padded outputs] and of the bias.
  [[gnu::always_inline]] std::size_t padded_outputs() const noexcept {
    return (outputs + 15) / 16 * 16;
  }
};

struct OneChannelPasses {
  // output[sample, y, x, outputs] = bias + products, or `lowest` where that is not above it: 0 for
  // ReLU, minus infinity for no activation. Not a number stays what it is.
  void (*forward)(const OneChannelShape& shape, std::size_t samples, const float* input,
                  const float* weights, const float* bias, float lowest, float* output);
  // gradient[kernel, kernel, padded outputs]: the sums over the samples. What lies in the padding
  // is undefined.
  void (*weight_gradient)(const OneChannelShape& shape, std::size_t samples, const float* input,
                          const float* output_gradient, float* gradient);
};

// In the widest vectors that there are.
const OneChannelPasses& one_channel_passes();
// In those that all is compiled for; in AVX-512's, or null where the processor or the compiler has
// none, or the build none of the instructions that round a product and its sum once.
const OneChannelPasses* one_channel_passes_of_build();
const OneChannelPasses* one_channel_passes_of_512_bits();

}  // namespace rubato::nn
