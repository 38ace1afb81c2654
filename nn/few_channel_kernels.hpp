// A convolution's passes with samples in the lanes (convolution_passes.hpp), in the vectors that
// the including file is compiled for.
#pragma once

#include <cstddef>

#include "nn/convolution_passes.hpp"
#include "nn/sample_lanes.hpp"
#include "nn/wide_vectors.hpp"

namespace rubato::nn {
inline namespace RUBATO_WIDE {

// Calls use(Count<count>()), for a count from 1 to `most`.
template <std::size_t most, class Use>
inline void with_count(std::size_t count, const Use& use) {
  for_each_index<most>([&]<std::size_t i>(Count<i>) {
    if (count == i + 1) use(Count<i + 1>());
  });
}

// Calls use(first, Count<channels>()) for each block of output channels.
template <std::size_t most, class Use>
inline void for_each_output_block(std::size_t outputs, const Use& use) {
  std::size_t first = 0;
  while (first < outputs) {
    const std::size_t channels = channels_in_block(first, outputs, most);
    with_count<most>(channels, [&](auto count) { use(first, count); });
    first += channels;
  }
}

// The part of the kernel that lies in the image.
struct KernelPart {
  std::size_t begin, end;
};
inline KernelPart part_inside(std::size_t output, std::size_t input_size,
                              const FewChannelShape& shape) {
  const std::size_t behind = input_size + shape.padding - output;  // from the kernel's first pixel
  return {output < shape.padding ? shape.padding - output : 0,
          behind < shape.kernel ? behind : shape.kernel};
}

// One block of channels of one output pixel.
template <std::size_t channels>
inline void convolve_pixel(const FewChannelShape& shape, std::size_t y, std::size_t x,
                           const float* input, const float* weights, const float* bias,
                           float lowest, float* output) {
  constexpr std::size_t vectors = channels * vectors_of_samples;
  const KernelPart rows = part_inside(y, shape.height, shape);
  const KernelPart columns = part_inside(x, shape.width, shape);
  Wide sums[vectors];
  for_each_index<vectors>(
      [&](std::size_t i) { sums[i] = in_all_lanes(bias[i / vectors_of_samples]); });
  for (std::size_t channel = 0; channel < shape.inputs; ++channel) {
    for (std::size_t ky = rows.begin; ky < rows.end; ++ky) {
      const std::size_t row = channel * shape.height + y + ky - shape.padding;
      const float* pixel =
          input + (row * shape.width + x + columns.begin - shape.padding) * samples_in_lanes;
      const float* weight =
          weights + ((channel * shape.kernel + ky) * shape.kernel + columns.begin) * channels;
      for (std::size_t kx = columns.begin; kx < columns.end; ++kx) {
        Wide values[vectors_of_samples];
        for_each_index<vectors_of_samples>(
            [&](std::size_t v) { values[v] = load_wide(pixel + v * wide_lanes); });
        for_each_index<vectors>([&](std::size_t i) {
          add_product(weight[i / vectors_of_samples], values[i % vectors_of_samples], sums[i]);
        });
        pixel += samples_in_lanes;
        weight += channels;
      }
    }
  }
  const std::size_t stride = shape.output_pixels() * samples_in_lanes;  // between channels
  float* const to = output + (y * shape.output_width() + x) * samples_in_lanes;
  for_each_index<vectors>([&](std::size_t i) {
    store_wide(at_least(lowest, sums[i]),
               to + i / vectors_of_samples * stride + i % vectors_of_samples * wide_lanes);
  });
}

// As many sums as hide how long each addition takes, and as the registers hold.
inline constexpr std::size_t most_in_block = 10 / vectors_of_samples;

inline void convolve(const FewChannelShape& shape, const float* input, const float* weights,
                     const float* bias, float lowest, float* output) {
  for_each_output_block<most_in_block>(shape.outputs, [&](std::size_t first, auto channels) {
    float* const to = output + first * shape.output_pixels() * samples_in_lanes;
    for (std::size_t y = 0; y < shape.output_height(); ++y) {
      for (std::size_t x = 0; x < shape.output_width(); ++x) {
        convolve_pixel<channels>(shape, y, x, input, weights + first * shape.patch_elements(),
                                 bias + first, lowest, to);
      }
    }
  });
}

// Of one row of the kernel between one input channel and a block of output channels, in the lanes
// of one vector.
template <std::size_t channels>
inline void add_kernel_row(const FewChannelShape& shape, const float* input,
                           const float* output_gradient, float* to) {
  constexpr std::size_t kernel = FewChannelShape::kernel;
  const std::size_t stride = shape.patch_elements() * samples_in_lanes;  // between output channels
  const std::size_t gradient_stride = shape.output_pixels() * samples_in_lanes;
  const auto place = [&](std::size_t i) {
    return to + i / kernel * stride + i % kernel * samples_in_lanes;
  };
  Wide sums[channels * kernel];
  for_each_index<channels * kernel>([&](std::size_t i) { sums[i] = load_wide(place(i)); });
  for (std::size_t y = 0; y < shape.output_height(); ++y) {
    for (std::size_t x = 0; x < shape.output_width(); ++x) {
      const float* const pixel = input + (y * shape.width + x) * samples_in_lanes;
      const float* const gradient =
          output_gradient + (y * shape.output_width() + x) * samples_in_lanes;
      Wide of_outputs[channels];
      for_each_index<channels>([&](std::size_t channel) {
        of_outputs[channel] = load_wide(gradient + channel * gradient_stride);
      });
      for_each_index<kernel>([&](std::size_t kx) {
        const Wide values = load_wide(pixel + kx * samples_in_lanes);
        for_each_index<channels>([&](std::size_t channel) {
          add_product(of_outputs[channel], values, sums[channel * kernel + kx]);
        });
      });
    }
  }
  for_each_index<channels * kernel>([&](std::size_t i) { store_wide(sums[i], place(i)); });
}

inline void add_weight_gradient(const FewChannelShape& shape, const float* input,
                                const float* output_gradient, float* sums) {
  constexpr std::size_t kernel = FewChannelShape::kernel;
  // A pixel of all these channels is read once for all of a kernel's row; one register is for the
  // input.
  constexpr std::size_t fitting = (vector_registers - 1) / (kernel + 1);
  for_each_output_block<fitting>(shape.outputs, [&](std::size_t first, auto channels) {
    const float* const gradients =
        output_gradient + first * shape.output_pixels() * samples_in_lanes;
    float* const to = sums + first * shape.patch_elements() * samples_in_lanes;
    for (std::size_t row = 0; row < shape.inputs * kernel; ++row) {
      const std::size_t input_row = row / kernel * shape.height + row % kernel;
      for (std::size_t lane = 0; lane < samples_in_lanes; lane += wide_lanes) {
        add_kernel_row<channels>(shape, input + input_row * shape.width * samples_in_lanes + lane,
                                 gradients + lane, to + row * kernel * samples_in_lanes + lane);
      }
    }
  });
}

inline constexpr FewChannelPasses few_channels_here{
    &into_lanes, &out_of_lanes, &convolve, &add_weight_gradient, &add_lanes, most_in_block};

}  // namespace RUBATO_WIDE
}  // namespace rubato::nn
