// The order in which all per-channel loops walk through a minibatch of channels-last pixels.
//
// Channels are seldom a multiple of a vector's width (10, 20), so several pixels are taken
// together: a *row* of lanes, as many as the smallest multiple of the channels that is a multiple
// of a *block*, 32 lanes. Lane j holds elements j, j + lanes, ... A block's constants and sums stay
// in registers while it goes down a *run* of 32 rows, which stays in the nearest cache, so a second
// walk over the same run costs little. The order depends on the shape alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "nn/floats.hpp"

namespace rubato::nn {

// The same lanes, so the same order of sums, whatever the vectors; several independent sums hide an
// addition's latency.
inline constexpr std::size_t block_lanes = 32;
inline constexpr std::size_t block_vectors = block_lanes / vector_floats;
inline constexpr std::size_t rows_per_run = 32;

inline std::size_t lanes_for(std::size_t channels) { return std::lcm(channels, block_lanes); }

// One value per lane of a block.
struct Block {
  Floats vectors[block_vectors] = {};
};

inline Block load_block(const float* from) noexcept {
  Block block;
  for (std::size_t v = 0; v < block_vectors; ++v) {
    block.vectors[v] = load(from + v * vector_floats);
  }
  return block;
}

inline std::array<float, block_lanes> lanes_of(const Block& block) noexcept {
  std::array<float, block_lanes> lanes;
  std::memcpy(lanes.data(), block.vectors, sizeof block.vectors);
  return lanes;
}

// Access to vector v of a block in memory: of a whole block, or of one whose lanes from `count` on
// lie behind the minibatch's end; those read as 0, which adds nothing to sums of values and of
// gradients, and are not written.
struct WholeBlock {
  static Floats read(const float* from, std::size_t /*v*/) noexcept { return load(from); }
  static void write(float* to, std::size_t /*v*/, Floats values) noexcept { store(to, values); }
};
struct PartOfBlock {
  std::size_t count;

  std::size_t count_of(std::size_t v) const noexcept {
    return std::min(vector_floats, count - std::min(count, v * vector_floats));
  }
  Floats read(const float* from, std::size_t v) const noexcept {
    Floats values{};
    std::memcpy(&values, from, count_of(v) * sizeof(float));
    return values;
  }
  void write(float* to, std::size_t v, Floats values) const noexcept {
    std::memcpy(to, &values, count_of(v) * sizeof(float));
  }
};

// A block's place: element `first` is lane `lane` of its first row.
struct BlockRun {
  std::size_t first;
  std::size_t rows;
  std::size_t lane;
  std::size_t lanes;
};

// Calls visit(access, run) for every block of every run; elements behind the last whole row come as
// a run of one row at the end.
template <typename Visit>
void for_each_run(std::size_t elements, std::size_t lanes, Visit visit) {
  const std::size_t whole_rows = elements / lanes;
  for (std::size_t row = 0; row < whole_rows; row += rows_per_run) {
    const std::size_t rows = std::min(rows_per_run, whole_rows - row);
    for (std::size_t lane = 0; lane < lanes; lane += block_lanes) {
      visit(WholeBlock{}, BlockRun{row * lanes + lane, rows, lane, lanes});
    }
  }
  const std::size_t rest = elements - whole_rows * lanes;
  for (std::size_t lane = 0; lane < rest; lane += block_lanes) {
    visit(PartOfBlock{rest - lane}, BlockRun{whole_rows * lanes + lane, 1, lane, lanes});
  }
}

// Calls visit(index of the vector's first element, v) for every vector of the run, row by row.
template <typename Visit>
inline void for_each_vector(const BlockRun& run, Visit visit) {
  for (std::size_t row = 0; row < run.rows; ++row) {
    const std::size_t place = run.first + row * run.lanes;
    for (std::size_t v = 0; v < block_vectors; ++v) visit(place + v * vector_floats, v);
  }
}

// The sum of the run's values in memory, per lane.
template <typename Access>
inline Block sum_of(Access access, const BlockRun& run, const float* values) {
  Block sum;
  for_each_vector(
      run, [&](std::size_t i, std::size_t v) { sum.vectors[v] += access.read(values + i, v); });
  return sum;
}

}  // namespace rubato::nn
