// A convolution's passes with samples in the lanes (convolution_passes.hpp), in the vectors that
// the including file is compiled for.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "nn/convolution_passes.hpp"
#include "nn/wide_vectors.hpp"

namespace rubato::nn {
inline namespace RUBATO_WIDE {

inline constexpr std::size_t vectors_of_samples = samples_in_lanes / wide_lanes;

// A vector's parts, of 16 bytes each.
using Quad = float __attribute__((vector_size(4 * sizeof(float))));

inline Quad load_quad(const float* from) {
  Quad values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

// Four floats of each of wide_lanes/4 rows, of which each begins `stride` behind the one before.
inline Wide load_quads(const float* from, [[maybe_unused]] std::size_t stride) {
#if defined(__AVX512F__)
  __m512 values = _mm512_castps128_ps512(load_quad(from));
  values = _mm512_insertf32x4(values, load_quad(from + stride), 1);
  values = _mm512_insertf32x4(values, load_quad(from + 2 * stride), 2);
  return _mm512_insertf32x4(values, load_quad(from + 3 * stride), 3);
#elif defined(__AVX__)
  return _mm256_insertf128_ps(_mm256_castps128_ps256(load_quad(from)), load_quad(from + stride), 1);
#else
  return load_quad(from);
#endif
}

inline void store_quads(const Wide& values, float* to, std::size_t stride) {
  for_each_sum<wide_lanes / 4>([&]<std::size_t i>(Count<i>) {
    const Quad quad =
        __builtin_shufflevector(values, values, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    std::memcpy(to + i * stride, &quad, sizeof quad);
  });
}

// Of each quad of the result the elements `from` of the same quads of a (0 to 3) and b (4 to 7).
template <std::size_t... from>
inline Wide pick(const Wide& a, const Wide& b) {
  constexpr std::size_t places[] = {(from < 4 ? from : wide_lanes + from - 4)...};
  return [&]<std::size_t... lane>(std::index_sequence<lane...>) {
    return __builtin_shufflevector(a, b, (lane / 4 * 4 + places[lane % 4])...);
  }
  (std::make_index_sequence<wide_lanes>());
}

// Rows and columns change places in the four by four floats of each quad.
inline void transpose_quads(Wide (&rows)[4]) {
  const Wide low_01 = pick<0, 4, 1, 5>(rows[0], rows[1]);
  const Wide high_01 = pick<2, 6, 3, 7>(rows[0], rows[1]);
  const Wide low_23 = pick<0, 4, 1, 5>(rows[2], rows[3]);
  const Wide high_23 = pick<2, 6, 3, 7>(rows[2], rows[3]);
  rows[0] = pick<0, 1, 4, 5>(low_01, low_23);
  rows[1] = pick<2, 3, 6, 7>(low_01, low_23);
  rows[2] = pick<0, 1, 4, 5>(high_01, high_23);
  rows[3] = pick<2, 3, 6, 7>(high_01, high_23);
}

// Where the elements of a sample lie in lanes, one after the other.
class PlaceInLanes {
 public:
  PlaceInLanes(std::size_t pixels, std::size_t channels) : pixels_(pixels), channels_(channels) {}
  // Of the next element.
  std::size_t next() {
    const std::size_t place = (channel_ * pixels_ + pixel_) * samples_in_lanes;
    if (++channel_ == channels_) {
      channel_ = 0;
      ++pixel_;
    }
    return place;
  }

 private:
  std::size_t pixels_, channels_;
  std::size_t pixel_ = 0, channel_ = 0;
};

inline void into_lanes(std::size_t pixels, std::size_t channels, std::size_t samples,
                       const float* values, float* in_lanes) {
  const std::size_t elements = pixels * channels;
  PlaceInLanes places(pixels, channels);
  std::size_t element = 0;
  if (samples == samples_in_lanes) {
    for (; element + 4 <= elements; element += 4) {
      float* to[4];
      for_each_sum<4>([&](std::size_t i) { to[i] = in_lanes + places.next(); });
      for_each_sum<vectors_of_samples>([&](std::size_t v) {
        const float* const from = values + v * wide_lanes * elements + element;
        Wide rows[4];
        for_each_sum<4>(
            [&](std::size_t i) { rows[i] = load_quads(from + i * elements, 4 * elements); });
        transpose_quads(rows);
        for_each_sum<4>([&](std::size_t i) { store_wide(rows[i], to[i] + v * wide_lanes); });
      });
    }
  }
  for (; element < elements; ++element) {
    float* const to = in_lanes + places.next();
    for (std::size_t i = 0; i < samples_in_lanes; ++i) {
      to[i] = i < samples ? values[i * elements + element] : 0.0F;
    }
  }
}

inline void out_of_lanes(std::size_t pixels, std::size_t channels, std::size_t samples,
                         const float* in_lanes, float* values) {
  const std::size_t elements = pixels * channels;
  PlaceInLanes places(pixels, channels);
  std::size_t element = 0;
  if (samples == samples_in_lanes) {
    for (; element + 4 <= elements; element += 4) {
      const float* from[4];
      for_each_sum<4>([&](std::size_t i) { from[i] = in_lanes + places.next(); });
      for_each_sum<vectors_of_samples>([&](std::size_t v) {
        float* const to = values + v * wide_lanes * elements + element;
        Wide rows[4];
        for_each_sum<4>([&](std::size_t i) { rows[i] = load_wide(from[i] + v * wide_lanes); });
        transpose_quads(rows);
        for_each_sum<4>(
            [&](std::size_t i) { store_quads(rows[i], to + i * elements, 4 * elements); });
      });
    }
  }
  for (; element < elements; ++element) {
    const float* const from = in_lanes + places.next();
    for (std::size_t i = 0; i < samples; ++i) values[i * elements + element] = from[i];
  }
}

// Calls use(Count<count>()), for a count from 1 to `most`.
template <std::size_t most, class Use>
inline void with_count(std::size_t count, const Use& use) {
  for_each_sum<most>([&]<std::size_t i>(Count<i>) {
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
  for_each_sum<vectors>(
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
        for_each_sum<vectors_of_samples>(
            [&](std::size_t v) { values[v] = load_wide(pixel + v * wide_lanes); });
        for_each_sum<vectors>([&](std::size_t i) {
          add_product(weight[i / vectors_of_samples], values[i % vectors_of_samples], sums[i]);
        });
        pixel += samples_in_lanes;
        weight += channels;
      }
    }
  }
  const std::size_t stride = shape.output_pixels() * samples_in_lanes;  // between channels
  float* const to = output + (y * shape.output_width() + x) * samples_in_lanes;
  for_each_sum<vectors>([&](std::size_t i) {
    store_wide(at_least(lowest, sums[i]),
               to + i / vectors_of_samples * stride + i % vectors_of_samples * wide_lanes);
  });
}

// As many sums as hide how long each addition takes, and as the registers hold.
inline constexpr std::size_t most_in_block = vector_registers == 32 ? 10 : 10 / vectors_of_samples;

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
  for_each_sum<channels * kernel>([&](std::size_t i) { sums[i] = load_wide(place(i)); });
  const float* gradient = output_gradient;
  for (std::size_t y = 0; y < shape.output_height(); ++y) {
    const float* pixel = input + y * shape.width * samples_in_lanes;
    for (std::size_t x = 0; x < shape.output_width(); ++x) {
      Wide of_outputs[channels];
      for_each_sum<channels>([&](std::size_t channel) {
        of_outputs[channel] = load_wide(gradient + channel * gradient_stride);
      });
      for_each_sum<kernel>([&](std::size_t kx) {
        const Wide values = load_wide(pixel + kx * samples_in_lanes);
        for_each_sum<channels>([&](std::size_t channel) {
          add_product(of_outputs[channel], values, sums[channel * kernel + kx]);
        });
      });
      pixel += samples_in_lanes;
      gradient += samples_in_lanes;
    }
  }
  for_each_sum<channels * kernel>([&](std::size_t i) { store_wide(sums[i], place(i)); });
}

inline void add_weight_gradient(const FewChannelShape& shape, const float* input,
                                const float* output_gradient, float* sums) {
  constexpr std::size_t kernel = FewChannelShape::kernel;
  // A pixel of all these channels is read once for all of a kernel's row; one register is for the
  // input.
  constexpr std::size_t fitting = (vector_registers - 2) / (kernel + 1);
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

inline void add_lanes(std::size_t count, const float* sums, float* result) {
  const auto add_four = [](const float* four) { return (four[0] + four[2]) + (four[1] + four[3]); };
  for (std::size_t i = 0; i < count; ++i) {
    const float* const lanes = sums + i * samples_in_lanes;
    float quads[4];
    for_each_sum<4>([&](std::size_t quad) { quads[quad] = add_four(lanes + 4 * quad); });
    result[i] = add_four(quads);
  }
}

inline constexpr FewChannelPasses few_channels_here{
    &into_lanes, &out_of_lanes, &convolve, &add_weight_gradient, &add_lanes, most_in_block};

}  // namespace RUBATO_WIDE
}  // namespace rubato::nn
