// A convolution's passes over images of one channel (convolution_passes.hpp), in the vectors that
// the including file is compiled for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nn/convolution_passes.hpp"
#include "nn/wide_vectors.hpp"

namespace rubato::nn {
inline namespace RUBATO_WIDE {

// A vector of output channels, of which a block of fewer has only the first ones in memory.
#ifdef __AVX512F__
class ChannelMask {
 public:
  explicit ChannelMask(std::size_t channels)
      : mask_(static_cast<__mmask16>((std::uint32_t{1} << channels) - 1)) {}
  Wide load(const float* from) const { return _mm512_maskz_loadu_ps(mask_, from); }
  void store(const Wide& values, float* to) const { _mm512_mask_storeu_ps(to, mask_, values); }

 private:
  __mmask16 mask_;
};
#elif defined(__AVX2__)
class ChannelMask {
 public:
  explicit ChannelMask(std::size_t channels)
      : is_whole_(channels == wide_lanes),
        mask_(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(channels)),
                                 _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))) {}
  Wide load(const float* from) const {
    return is_whole_ ? load_wide(from) : Wide(_mm256_maskload_ps(from, mask_));
  }
  void store(const Wide& values, float* to) const {
    if (is_whole_) {
      _mm256_storeu_ps(to, values);
    } else {
      _mm256_maskstore_ps(to, mask_, values);
    }
  }

 private:
  bool is_whole_;
  __m256i mask_;
};
#else
class ChannelMask {
 public:
  explicit ChannelMask(std::size_t channels) : bytes_(channels * sizeof(float)) {}
  Wide load(const float* from) const {
    Wide values = {};
    std::memcpy(&values, from, bytes_);
    return values;
  }
  void store(const Wide& values, float* to) const { std::memcpy(to, &values, bytes_); }

 private:
  std::size_t bytes_;
};
#endif

// Calls use(first, mask) for each block of output channels.
template <class Use>
inline void for_each_channel_block(const OneChannelShape& shape, const Use& use) {
  for (std::size_t first = 0; first < shape.outputs; first += wide_lanes) {
    const std::size_t left = shape.outputs - first;
    use(first, ChannelMask(left < wide_lanes ? left : wide_lanes));
  }
}

// Enough that none waits for the one before it in its sum, few enough for the registers.
inline constexpr std::size_t pixels_at_once = 12;

// Of `pixels` output pixels of a row one block of channels. `weights`, `bias` and `output` point at
// its first one.
template <std::size_t pixels>
inline void convolve_pixels(const OneChannelShape& shape, const float* input, const float* weights,
                            const float* bias, float lowest, const ChannelMask& mask,
                            float* output) {
  const std::size_t kernel = shape.kernel;
  const std::size_t stride = shape.padded_outputs();
  Wide sums[pixels];
  for_each_index<pixels>([&](std::size_t i) { sums[i] = load_wide(bias); });
  for (std::size_t ky = 0; ky < kernel; ++ky) {
    for (std::size_t kx = 0; kx < kernel; ++kx) {
      const Wide weight = load_wide(weights + (ky * kernel + kx) * stride);
      const float* const pixel = input + ky * shape.width + kx;
      for_each_index<pixels>([&](std::size_t i) { add_product(pixel[i], weight, sums[i]); });
    }
  }
  for_each_index<pixels>(
      [&](std::size_t i) { mask.store(at_least(lowest, sums[i]), output + i * shape.outputs); });
}

inline void forward(const OneChannelShape& shape, std::size_t samples, const float* input,
                    const float* weights, const float* bias, float lowest, float* output) {
  const std::size_t width = shape.output_width();
  for (std::size_t row = 0; row < samples * shape.output_height(); ++row) {
    const std::size_t sample = row / shape.output_height();
    const std::size_t y = row % shape.output_height();
    const float* const from = input + (sample * shape.height + y) * shape.width;
    float* const to = output + row * width * shape.outputs;
    for_each_channel_block(shape, [&](std::size_t first, const ChannelMask& mask) {
      const auto convolve = [&](auto pixels, std::size_t x) {
        convolve_pixels<pixels>(shape, from + x, weights + first, bias + first, lowest, mask,
                                to + x * shape.outputs + first);
      };
      if (width < pixels_at_once) {
        for (std::size_t x = 0; x < width; ++x) convolve(Count<1>(), x);
        return;
      }
      // The last ones may be some of the ones before, again.
      const std::size_t last = width - pixels_at_once;
      for (std::size_t x = 0; x < last; x += pixels_at_once) convolve(Count<pixels_at_once>(), x);
      convolve(Count<pixels_at_once>(), last);
    });
  }
}

// Of `rows` rows of the kernel from `ky` on, and of one block of channels from `first` on.
template <std::size_t kernel, std::size_t rows>
inline void add_up_rows(const OneChannelShape& shape, std::size_t samples, const float* input,
                        const float* output_gradient, std::size_t ky, std::size_t first,
                        const ChannelMask& mask, float* gradient) {
  constexpr std::size_t weights = rows * kernel;
  Wide sums[weights];
  for_each_index<weights>([&](std::size_t i) { sums[i] = Wide{}; });
  const std::size_t outputs = shape.outputs;
  std::size_t of_pixel = first;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    Wide of_sample[weights];
    for_each_index<weights>([&](std::size_t i) { of_sample[i] = Wide{}; });
    for (std::size_t y = 0; y < shape.output_height(); ++y) {
      const float* pixels[rows];
      for_each_index<rows>([&](std::size_t row) {
        pixels[row] = input + (sample * shape.height + y + ky + row) * shape.width;
      });
      for (std::size_t x = 0; x < shape.output_width(); ++x, of_pixel += outputs) {
        const Wide values = mask.load(output_gradient + of_pixel);
        for_each_index<weights>([&](std::size_t i) {
          add_product(pixels[i / kernel][x + i % kernel], values, of_sample[i]);
        });
      }
    }
    for_each_index<weights>([&](std::size_t i) { sums[i] += of_sample[i]; });
  }
  float* const to = gradient + ky * kernel * shape.padded_outputs() + first;
  for_each_index<weights>(
      [&](std::size_t i) { store_wide(sums[i], to + i * shape.padded_outputs()); });
}

template <std::size_t kernel>
inline void weight_gradient(const OneChannelShape& shape, std::size_t samples, const float* input,
                            const float* output_gradient, float* gradient) {
  // The gradients are read once for so many rows of the kernel: as many as there are registers for,
  // beside those for a vector of gradients and for pixels.
  constexpr std::size_t fitting = (vector_registers - 4) / kernel;
  constexpr std::size_t rows = fitting < kernel ? fitting : kernel;
  constexpr std::size_t rest = kernel % rows;
  for_each_channel_block(shape, [&](std::size_t first, const ChannelMask& mask) {
    const auto add_up = [&](auto count, std::size_t ky) {
      add_up_rows<kernel, count>(shape, samples, input, output_gradient, ky, first, mask, gradient);
    };
    for (std::size_t ky = 0; ky < kernel - rest; ky += rows) add_up(Count<rows>(), ky);
    if constexpr (rest > 0) add_up(Count<rest>(), kernel - rest);
  });
}

inline void weight_gradient(const OneChannelShape& shape, std::size_t samples, const float* input,
                            const float* output_gradient, float* gradient) {
  if (shape.kernel == 3) {
    weight_gradient<3>(shape, samples, input, output_gradient, gradient);
  } else {
    weight_gradient<5>(shape, samples, input, output_gradient, gradient);
  }
}

inline constexpr OneChannelPasses one_channel_here{&forward, &weight_gradient};

}  // namespace RUBATO_WIDE
}  // namespace rubato::nn
