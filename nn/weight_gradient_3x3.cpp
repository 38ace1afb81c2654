// Two input channels of the three pixels under a row of the kernel, each in all lanes of a vector,
// times two vectors of output channels: twelve sums, which stay in registers over some rows of
// pixels. For each pixel eight loads feed twelve products, so that these are what it waits for.
#include "nn/weight_gradient_3x3.hpp"

#include <algorithm>
#include <cstring>

#include "nn/eight_lanes.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t kernel = 3;
constexpr std::size_t block = lanes;  // channels
constexpr std::size_t block_weights = kernel * kernel * block * block;
constexpr std::size_t inputs_at_once = 2;
constexpr std::size_t most_pixels_at_once = 256;      // stay in the first-level cache
constexpr std::size_t most_channel_pairs = 64 * 128;  // whose sums stay in the second-level cache

inline void add_to(float* sums, const Lanes& values) {
  Lanes sum;
  load(sums, sum);
  sum += values;
  store(sum, sums);
}

// Eight channels of an image whose order has `adjacent` of a pixel's channels side by side.
struct BlockPlaces {
  std::size_t adjacent, pixels;

  explicit BlockPlaces(const Shape& shape)
      : adjacent(shape.adjacent_channels()), pixels(shape.pixels()) {}
  std::size_t first(std::size_t channel) const {
    return channel / adjacent * adjacent * pixels + channel % adjacent;
  }
};

// An input's block of channels with its border of zeros, pixels side by side.
struct PaddedBlock {
  std::size_t padding, height, width;  // with the border

  explicit PaddedBlock(const ConvolutionGeometry& geometry)
      : padding(geometry.padding),
        height(geometry.input.height + 2 * padding),
        width(geometry.input.width + 2 * padding) {}
  std::size_t floats() const { return height * width * block; }
};

void copy_inside(const Shape& shape, const float* image, std::size_t channel,
                 const PaddedBlock& padded, float* copy) {
  const BlockPlaces places(shape);
  const float* from = image + places.first(channel);
  for (std::size_t y = 0; y < shape.height; ++y) {
    float* to = copy + ((y + padded.padding) * padded.width + padded.padding) * block;
    for (std::size_t x = 0; x < shape.width; ++x) {
      std::memcpy(to, from, block * sizeof(float));
      from += places.adjacent;
      to += block;
    }
  }
}

// Rows of output pixels, and how far apart the floats lie that are taken one after another.
struct Rows {
  std::size_t count, pixels;
  std::size_t input_row, input_pixel, kernel_row;
  std::size_t gradient_row, gradient_pixel;
};

// Adds to sums[kernel's x, input of the block, output of the block] of one row of the kernel and
// two blocks of outputs.
void add_products(const Rows& rows, const float* input, const float* first_gradient,
                  const float* second_gradient, float* first_sums, float* second_sums) {
  Lanes first[kernel][inputs_at_once] = {};
  Lanes second[kernel][inputs_at_once] = {};
  for (std::size_t y = 0; y < rows.count; ++y) {
    const float* values = input + y * rows.input_row;
    const std::size_t row = y * rows.gradient_row;
    for (std::size_t x = 0; x < rows.pixels; ++x) {
      Lanes of_first, of_second;
      load(first_gradient + row + x * rows.gradient_pixel, of_first);
      load(second_gradient + row + x * rows.gradient_pixel, of_second);
#pragma GCC unroll 3
      for (std::size_t kx = 0; kx < kernel; ++kx) {
#pragma GCC unroll 2
        for (std::size_t i = 0; i < inputs_at_once; ++i) {
          add_product(values[kx * block + i], of_first, first[kx][i]);
          add_product(values[kx * block + i], of_second, second[kx][i]);
        }
      }
      values += rows.input_pixel;
    }
  }
#pragma GCC unroll 3
  for (std::size_t kx = 0; kx < kernel; ++kx) {
#pragma GCC unroll 2
    for (std::size_t i = 0; i < inputs_at_once; ++i) {
      add_to(first_sums + (kx * block + i) * block, first[kx][i]);
      add_to(second_sums + (kx * block + i) * block, second[kx][i]);
    }
  }
}

// The same for all rows of the kernel and all inputs of the block: sums[y, x, input, output].
void add_products_of_blocks(const Rows& rows, const float* input, const float* first_gradient,
                            const float* second_gradient, float* first_sums, float* second_sums) {
  for (std::size_t ky = 0; ky < kernel; ++ky) {
    for (std::size_t i = 0; i < block; i += inputs_at_once) {
      const std::size_t sums = (ky * kernel * block + i) * block;
      add_products(rows, input + ky * rows.kernel_row + i, first_gradient, second_gradient,
                   first_sums + sums, second_sums + sums);
    }
  }
}

}  // namespace

bool has_weight_gradient_3x3(const ConvolutionGeometry& geometry) {
  const std::size_t inputs = geometry.input.channels;
  return has_fused_lanes && geometry.kernel == kernel && inputs % block == 0 &&
         geometry.outputs % (2 * block) == 0 && inputs * geometry.outputs <= most_channel_pairs;
}

std::size_t weight_gradient_3x3_scratch_floats(const ConvolutionGeometry& geometry) {
  return PaddedBlock(geometry).floats();
}

void weight_gradient_3x3(const ConvolutionGeometry& geometry, std::span<const float> input,
                         std::span<const float> output_gradient, std::span<float> scratch,
                         std::span<float> gradient) {
  const Shape& in = geometry.input;
  const Shape out = geometry.output();
  const PaddedBlock padded(geometry);
  const BlockPlaces places(out);
  const std::size_t input_blocks = in.channels / block;
  const std::size_t rows_at_once = std::max<std::size_t>(1, most_pixels_at_once / out.width);
  std::ranges::fill(scratch.first(padded.floats()), 0.0F);
  std::ranges::fill(gradient, 0.0F);
  for (std::size_t sample = 0; sample < input.size() / in.elements(); ++sample) {
    const float* const gradients = output_gradient.data() + sample * out.elements();
    for (std::size_t i = 0; i < input_blocks; ++i) {
      copy_inside(in, input.data() + sample * in.elements(), i * block, padded, scratch.data());
      for (std::size_t y = 0; y < out.height; y += rows_at_once) {
        const Rows rows{.count = std::min(rows_at_once, out.height - y),
                        .pixels = out.width,
                        .input_row = geometry.stride * padded.width * block,
                        .input_pixel = geometry.stride * block,
                        .kernel_row = padded.width * block,
                        .gradient_row = out.width * places.adjacent,
                        .gradient_pixel = places.adjacent};
        for (std::size_t o = 0; o < out.channels; o += 2 * block) {
          const float* const first = gradients + places.first(o) + y * rows.gradient_row;
          const float* const second = gradients + places.first(o + block) + y * rows.gradient_row;
          float* const first_sums =
              gradient.data() + (o / block * input_blocks + i) * block_weights;
          add_products_of_blocks(rows, scratch.data() + y * rows.input_row, first, second,
                                 first_sums, first_sums + input_blocks * block_weights);
        }
      }
    }
  }
}

}  // namespace rubato::nn
