// Values of sixteen samples into the lanes of vectors and back (convolution_passes.hpp), in the
// vectors that the including file is compiled for.
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
  for_each_index<wide_lanes / 4>([&]<std::size_t i>(Count<i>) {
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
      for_each_index<4>([&](std::size_t i) { to[i] = in_lanes + places.next(); });
      for_each_index<vectors_of_samples>([&](std::size_t v) {
        const float* const from = values + v * wide_lanes * elements + element;
        Wide rows[4];
        for_each_index<4>(
            [&](std::size_t i) { rows[i] = load_quads(from + i * elements, 4 * elements); });
        transpose_quads(rows);
        for_each_index<4>([&](std::size_t i) { store_wide(rows[i], to[i] + v * wide_lanes); });
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
      for_each_index<4>([&](std::size_t i) { from[i] = in_lanes + places.next(); });
      for_each_index<vectors_of_samples>([&](std::size_t v) {
        float* const to = values + v * wide_lanes * elements + element;
        Wide rows[4];
        for_each_index<4>([&](std::size_t i) { rows[i] = load_wide(from[i] + v * wide_lanes); });
        transpose_quads(rows);
        for_each_index<4>(
            [&](std::size_t i) { store_quads(rows[i], to + i * elements, 4 * elements); });
      });
    }
  }
  for (; element < elements; ++element) {
    const float* const from = in_lanes + places.next();
    for (std::size_t i = 0; i < samples; ++i) values[i * elements + element] = from[i];
  }
}

inline void add_lanes(std::size_t count, const float* sums, float* result) {
  const auto add_four = [](const float* four) { return (four[0] + four[2]) + (four[1] + four[3]); };
  for (std::size_t i = 0; i < count; ++i) {
    const float* const lanes = sums + i * samples_in_lanes;
    float quads[4];
    for_each_index<4>([&](std::size_t quad) { quads[quad] = add_four(lanes + 4 * quad); });
    result[i] = add_four(quads);
  }
}

}  // namespace RUBATO_WIDE
}  // namespace rubato::nn
