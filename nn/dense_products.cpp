// A tile of the product, of 6 rows and 16 columns or of 4 and 24, stays in twelve registers over a
// block of the index that is summed over. For each step of it eight or seven loads feed twelve
// products, so that these are what it waits for.
#include "nn/dense_products.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "nn/eight_lanes.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t line_floats = 16;

struct Tile {
  std::size_t rows, columns;
};
constexpr Tile tall{.rows = 6, .columns = 2 * lanes};
constexpr Tile wide{.rows = 4, .columns = 3 * lanes};

constexpr std::size_t most_steps = 192;       // whose panels stay in the first-level cache
constexpr std::size_t copied_floats = 32768;  // stay in the second-level cache
constexpr std::size_t most_samples = 192;     // whose panels do so, too

// Below these, tiles are half empty, or copies cost as much as products.
constexpr std::size_t least_samples = 16;
constexpr std::size_t least_outputs = 32;

// How many columns, whole tiles of either kind, are copied at a time.
constexpr std::size_t columns_at_once(std::size_t steps) {
  constexpr std::size_t whole_tiles = 48;
  return copied_floats / steps / whole_tiles * whole_tiles;
}

// A tile's rows of the left matrix where they lie.
template <std::size_t rows>
struct LyingRows {
  std::array<const float*, rows> first;

  // Missing rows are taken as the last one, and what comes of them is not used.
  LyingRows(const float* values, std::size_t count, std::size_t stride) {
    for (std::size_t r = 0; r < rows; ++r) first[r] = values + std::min(r, count - 1) * stride;
  }
  float value(std::size_t row, std::size_t k) const { return first[row][k]; }
};

// Such rows copied, [steps, rows].
template <std::size_t rows>
struct CopiedRows {
  const float* values;

  float value(std::size_t row, std::size_t k) const { return values[k * rows + row]; }
};

// Adds the products with a panel [steps, columns of the tile] to sums in memory, or begins them.
template <Tile tile, template <std::size_t> typename Rows>
void multiply_tile(const Rows<tile.rows>& left, const float* panel, std::size_t steps,
                   bool is_first, float* sums, std::size_t stride) {
  constexpr std::size_t vectors = tile.columns / lanes;
  Lanes sum[tile.rows][vectors] = {};
  if (!is_first) {
#pragma GCC unroll 6
    for (std::size_t r = 0; r < tile.rows; ++r) {
#pragma GCC unroll 3
      for (std::size_t v = 0; v < vectors; ++v) load(sums + r * stride + v * lanes, sum[r][v]);
    }
  }
#pragma GCC unroll 4
  for (std::size_t k = 0; k < steps; ++k) {
    Lanes right[vectors];
#pragma GCC unroll 3
    for (std::size_t v = 0; v < vectors; ++v) load(panel + k * tile.columns + v * lanes, right[v]);
#pragma GCC unroll 6
    for (std::size_t r = 0; r < tile.rows; ++r) {
      const float value = left.value(r, k);
#pragma GCC unroll 3
      for (std::size_t v = 0; v < vectors; ++v) add_product(value, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < tile.rows; ++r) {
#pragma GCC unroll 3
    for (std::size_t v = 0; v < vectors; ++v) store(sum[r][v], sums + r * stride + v * lanes);
  }
}

// A part of a matrix in memory, up to a tile.
struct Part {
  float* first;
  std::size_t stride, rows, columns;
};

// The same where a part of a tile is wanted.
template <Tile tile, template <std::size_t> typename Rows>
void multiply_part(const Rows<tile.rows>& left, const float* panel, std::size_t steps,
                   bool is_first, const Part& part) {
  if (part.rows == tile.rows && part.columns == tile.columns) {
    return multiply_tile<tile>(left, panel, steps, is_first, part.first, part.stride);
  }
  const auto copy = [&](const float* from, std::size_t stride, float* to, std::size_t to_stride) {
    for (std::size_t r = 0; r < part.rows; ++r) {
      std::copy_n(from + r * stride, part.columns, to + r * to_stride);
    }
  };
  float whole[tile.rows * tile.columns] = {};
  if (!is_first) copy(part.first, part.stride, whole, tile.columns);
  multiply_tile<tile>(left, panel, steps, is_first, whole, tile.columns);
  copy(whole, tile.columns, part.first, part.stride);
}

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Panels [rows / width, columns, width] of some columns of a matrix, with zeros for missing rows.
template <std::size_t width>
void transpose(const float* matrix, std::size_t rows, std::size_t stride, std::size_t columns,
               float* copy) {
  for (std::size_t row = 0; row < round_up(rows, width); ++row) {
    float* const to = copy + row / width * columns * width + row % width;
    for (std::size_t column = 0; column < columns; ++column) {
      to[column * width] = row < rows ? matrix[row * stride + column] : 0.0F;
    }
  }
}

// Of a row that is used next: a processor follows rows by itself, but not from one to another.
inline void fetch_ahead(const float* row, std::size_t columns) {
  for (std::size_t k = 0; k < columns; k += line_floats) __builtin_prefetch(row + k);
}

// Panels [columns / width, rows, width] of some columns of a matrix, with zeros for missing ones.
template <std::size_t width>
void copy_columns(const float* matrix, std::size_t rows, std::size_t stride, std::size_t columns,
                  float* copy) {
  constexpr std::size_t rows_ahead = 4;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* from = matrix + row * stride;
    if (row + rows_ahead < rows) fetch_ahead(from + rows_ahead * stride, columns);
    float* to = copy + row * width;
    std::size_t first = 0;
    for (; first + width <= columns; first += width) {
      std::memcpy(to, from + first, width * sizeof(float));
      to += rows * width;
    }
    if (first < columns) std::fill(std::copy(from + first, from + columns, to), to + width, 0.0F);
  }
}

// Of sums [samples / 16, rows, 16].
void write_transposed(const float* sums, std::size_t rows, const DenseSizes& sizes,
                      std::span<float> output) {
  constexpr std::size_t rows_at_once = 64;  // stay in the first-level cache
  for (std::size_t first = 0; first < sizes.outputs; first += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, sizes.outputs - first);
    for (std::size_t s = 0; s < sizes.samples; ++s) {
      const float* const from =
          sums + (s / tall.columns * rows + first) * tall.columns + s % tall.columns;
      float* const to = output.data() + s * sizes.outputs + first;
      for (std::size_t r = 0; r < count; ++r) to[r] = from[r * tall.columns];
    }
  }
}

// Of so few samples that their panels stay in a cache.
void output_of(const DenseSizes& sizes, std::span<const float> input,
               std::span<const float> weights, std::span<float> scratch, std::span<float> output) {
  const auto& [samples, inputs, outputs] = sizes;
  const std::size_t rows = round_up(outputs, tall.rows);
  const std::size_t columns = round_up(samples, tall.columns);
  float* const sums = scratch.data();
  float* const transposed = sums + rows * columns;
  for (std::size_t i = 0; i < inputs; i += most_steps) {
    const std::size_t steps = std::min(most_steps, inputs - i);
    transpose<tall.columns>(input.data() + i, samples, inputs, steps, transposed);
    for (std::size_t o = 0; o < outputs; o += tall.rows) {
      const float* const values = weights.data() + o * inputs + i;
      for (std::size_t r = tall.rows; r < std::min(2 * tall.rows, outputs - o); ++r) {
        fetch_ahead(values + r * inputs, steps);
      }
      const LyingRows<tall.rows> left(values, std::min(tall.rows, outputs - o), inputs);
      for (std::size_t c = 0; c < columns; c += tall.columns) {
        multiply_tile<tall>(left, transposed + c * steps, steps, i == 0,
                            sums + c * rows + o * tall.columns, tall.columns);
      }
    }
  }
  write_transposed(sums, rows, sizes, output);
}

}  // namespace

bool has_dense_products(const DenseSizes& sizes) {
  return has_fused_lanes && sizes.samples >= least_samples && sizes.outputs >= least_outputs;
}

std::size_t dense_products_scratch_floats(const DenseSizes& sizes) {
  const std::size_t samples = round_up(sizes.samples, tall.columns);
  const std::size_t sums = std::min(samples, most_samples) * round_up(sizes.outputs, tall.rows);
  return std::max(sums, copied_floats) + most_steps * samples;
}

void dense_output(const DenseSizes& sizes, std::span<const float> input,
                  std::span<const float> weights, std::span<float> scratch,
                  std::span<float> output) {
  for (std::size_t s = 0; s < sizes.samples; s += most_samples) {
    const std::size_t count = std::min(most_samples, sizes.samples - s);
    output_of({count, sizes.inputs, sizes.outputs},
              input.subspan(s * sizes.inputs, count * sizes.inputs), weights, scratch,
              output.subspan(s * sizes.outputs, count * sizes.outputs));
  }
}

void dense_input_gradient(const DenseSizes& sizes, std::span<const float> output_gradient,
                          std::span<const float> weights, std::span<float> scratch,
                          std::span<float> input_gradient) {
  const auto& [samples, inputs, outputs] = sizes;
  float* const copied_columns = scratch.data();
  float* const transposed = copied_columns + copied_floats;
  for (std::size_t o = 0; o < outputs; o += most_steps) {
    const std::size_t steps = std::min(most_steps, outputs - o);
    transpose<wide.rows>(output_gradient.data() + o, samples, outputs, steps, transposed);
    const std::size_t at_once = columns_at_once(steps);
    for (std::size_t i = 0; i < inputs; i += at_once) {
      const std::size_t columns = std::min(at_once, inputs - i);
      copy_columns<wide.columns>(weights.data() + o * inputs + i, steps, inputs, columns,
                                 copied_columns);
      for (std::size_t c = 0; c < columns; c += wide.columns) {
        for (std::size_t s = 0; s < samples; s += wide.rows) {
          multiply_part<wide>(CopiedRows<wide.rows>{transposed + s * steps},
                              copied_columns + c * steps, steps, o == 0,
                              {.first = input_gradient.data() + s * inputs + i + c,
                               .stride = inputs,
                               .rows = std::min(wide.rows, samples - s),
                               .columns = std::min(wide.columns, columns - c)});
        }
      }
    }
  }
}

void dense_weight_gradient(const DenseSizes& sizes, std::span<const float> output_gradient,
                           std::span<const float> input, std::span<float> scratch,
                           std::span<float> weight_gradient) {
  const auto& [samples, inputs, outputs] = sizes;
  float* const copied_columns = scratch.data();
  float* const copied_rows = copied_columns + copied_floats;
  for (std::size_t s = 0; s < samples; s += most_steps) {
    const std::size_t steps = std::min(most_steps, samples - s);
    const std::size_t at_once = columns_at_once(steps);
    for (std::size_t i = 0; i < inputs; i += at_once) {
      const std::size_t columns = std::min(at_once, inputs - i);
      copy_columns<tall.columns>(input.data() + s * inputs + i, steps, inputs, columns,
                                 copied_columns);
      for (std::size_t o = 0; o < outputs; o += tall.rows) {
        const std::size_t rows = std::min(tall.rows, outputs - o);
        copy_columns<tall.rows>(output_gradient.data() + s * outputs + o, steps, outputs, rows,
                                copied_rows);
        float* const row = weight_gradient.data() + o * inputs + i;
        for (std::size_t c = 0; c < columns; c += tall.columns) {
          for (std::size_t r = tall.rows; r < std::min(2 * tall.rows, outputs - o); ++r) {
            fetch_ahead(row + r * inputs + c, 1);
          }
          multiply_part<tall>(CopiedRows<tall.rows>{copied_rows}, copied_columns + c * steps, steps,
                              s == 0,
                              {.first = row + c,
                               .stride = inputs,
                               .rows = rows,
                               .columns = std::min(tall.columns, columns - c)});
        }
      }
    }
  }
}

}  // namespace rubato::nn
