// The passes of convolutions for which a kernel's usual way, output channels in the lanes of a
// vector and sums of products over input channels, leaves much of a vector empty: those whose input
// has one channel, as grey images have, and those of a few channels.
//
// They are compiled for vectors of two widths, and the processor says at run time which it has. The
// bits are the same.
#pragma once

#include <cstddef>

namespace rubato::nn {

// What is inline here is never a function of its own, as code for wide vectors calls it
// (check_wide_code.py).

struct OneChannelShape {
  std::size_t height = 0, width = 0;  // of the input
  std::size_t outputs = 0;            // channels
  std::size_t kernel = 0;             // height and width: 3 or 5

  [[gnu::always_inline]] std::size_t output_height() const noexcept { return height - kernel + 1; }
  [[gnu::always_inline]] std::size_t output_width() const noexcept { return width - kernel + 1; }
  // Of weights [kernel, kernel, padded outputs] and of the bias.
  [[gnu::always_inline]] std::size_t padded_outputs() const noexcept {
    return (outputs + 15) / 16 * 16;
  }
};

// Lanes are output channels: a pixel of the input times a vector of weights. A sum begins with the
// bias and goes over the kernel in the order of its weights; a weight's gradient is added up over
// the pixels of a sample, row by row, then over the samples.
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

inline constexpr std::size_t samples_in_lanes = 16;

// A convolution from one image to another, its kernel in steps of one pixel. Outside the image it
// sees zeros, `padding` of them on each side, fewer than the kernel's size.
struct FewChannelShape {
  static constexpr std::size_t kernel = 5;  // height and width

  std::size_t height = 0, width = 0;  // of the input
  std::size_t inputs = 0, outputs = 0;
  std::size_t padding = 0;

  [[gnu::always_inline]] std::size_t output_height() const noexcept {
    return height + 2 * padding - kernel + 1;
  }
  [[gnu::always_inline]] std::size_t output_width() const noexcept {
    return width + 2 * padding - kernel + 1;
  }
  [[gnu::always_inline]] std::size_t output_pixels() const noexcept {
    return output_height() * output_width();
  }
  [[gnu::always_inline]] std::size_t patch_elements() const noexcept {
    return inputs * kernel * kernel;
  }
};

// Lanes are samples, sixteen at a time, so that no channel is missing in any: "in lanes" are values
// [channel, pixel, sample of the sixteen]. A sum begins with the bias and goes over the input
// channels, for each over the kernel in the order of its weights.
struct FewChannelPasses {
  // From [sample, pixel, channel] into lanes and back, of at most sixteen samples; lanes without a
  // sample are filled with zeros.
  void (*into_lanes)(std::size_t pixels, std::size_t channels, std::size_t samples,
                     const float* values, float* in_lanes);
  void (*out_of_lanes)(std::size_t pixels, std::size_t channels, std::size_t samples,
                       const float* in_lanes, float* values);
  // In lanes: output = bias + products, or `lowest` where that is not above it, as with one
  // channel. Weights lie in blocks of output channels, each [input, y, x, output of the block].
  void (*convolve)(const FewChannelShape& shape, const float* input, const float* weights,
                   const float* bias, float lowest, float* output);
  // Of a shape without padding. Adds to sums[output, input, y, x, lane], pixel by pixel.
  void (*add_weight_gradient)(const FewChannelShape& shape, const float* input,
                              const float* output_gradient, float* sums);
  // Each of `count` sums over its lanes: of four neighbours ((0 + 2) + (1 + 3)), and of the four
  // results the same.
  void (*add_lanes)(std::size_t count, const float* sums, float* result);
  std::size_t most_in_block;  // output channels, of the weights for `convolve`
};

// How many output channels the block from `first` on has: all have about as many.
[[gnu::always_inline]] inline std::size_t channels_in_block(std::size_t first, std::size_t outputs,
                                                            std::size_t most) noexcept {
  const std::size_t left = outputs - first;
  const std::size_t blocks_left = (left + most - 1) / most;
  return left / blocks_left;
}

struct ConvolutionPasses {
  OneChannelPasses one_channel;
  FewChannelPasses few_channels;
};

// In the widest vectors that there are.
const ConvolutionPasses& convolution_passes();
// In those that all is compiled for; in AVX-512's, or null where the processor or the compiler has
// none, or the build none of the instructions that round a product and its sum once.
const ConvolutionPasses* convolution_passes_of_build();
const ConvolutionPasses* convolution_passes_of_512_bits();

}  // namespace rubato::nn
