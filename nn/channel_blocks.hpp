// The order in which all per-channel loops walk through a minibatch.
//
// Channels are seldom a multiple of a vector's width (10, 20), so several pixels are taken
// together: a *row* of lanes, as many as the smallest multiple of the channels that is a multiple
// of a *block*, 32 lanes. Lane j holds elements j, j + lanes, ... A block's constants and sums stay
// in registers while it goes down a *run* of 32 rows, which stays in the nearest cache, so a second
// walk over the same run costs little. The order depends on the shape alone.
//
// Of channels in blocks of 8 or 16 (Order), rows hold pixels of one block; the next block of the
// sample has the next lanes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "nn/floats.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

// The same lanes, so the same order of sums, whatever the vectors; several independent sums hide an
// addition's latency.
inline constexpr std::size_t block_lanes = 32;
inline constexpr std::size_t block_vectors = block_lanes / vector_floats;
inline constexpr std::size_t rows_per_run = 32;

class ChannelLanes {
 public:
  // Of channels that all lie side by side.
  ChannelLanes(std::size_t channels) : ChannelLanes(channels, channels, 0) {}
  explicit ChannelLanes(const Shape& shape)
      : ChannelLanes(shape.channels, shape.adjacent_channels(),
                     shape.adjacent_channels() * shape.pixels()) {}

  std::size_t channels() const noexcept { return channels_; }
  std::size_t of_row() const noexcept { return of_row_; }
  std::size_t count() const noexcept { return count_; }
  // What of a minibatch's elements has the same lanes: a sample's adjacent channels, or everything.
  std::size_t plane(std::size_t elements) const noexcept {
    return count_ == of_row_ ? elements : plane_;
  }
  // Calls visit(lane, its channel), in ascending order of the lanes.
  template <typename Visit>
  void for_each(Visit visit) const {
    std::size_t lane = 0;
    for (std::size_t first = 0; first < channels_; first += adjacent_) {
      for (const std::size_t end = lane + of_row_; lane < end;) {
        for (std::size_t c = 0; c < adjacent_; ++c) visit(lane++, first + c);
      }
    }
  }

 private:
  ChannelLanes(std::size_t channels, std::size_t adjacent, std::size_t plane)
      : channels_(channels),
        adjacent_(adjacent),
        plane_(plane),
        of_row_(std::lcm(adjacent, block_lanes)),
        count_(channels / adjacent * of_row_) {}

  std::size_t channels_, adjacent_, plane_, of_row_, count_;
};

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
// lie behind the plane's end; those read as 0, which adds nothing to sums of values and of
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

// A block's place: element `first` is lane `lane` of its first row, the next row's is `stride` on.
struct BlockRun {
  std::size_t first;
  std::size_t rows;
  std::size_t lane;
  std::size_t stride;
};

// Calls visit(access, run) for every block of every run; elements of a plane behind its last whole
// row come as a run of one row at its end.
template <typename Visit>
void for_each_run(std::size_t elements, const ChannelLanes& lanes, Visit visit) {
  const std::size_t plane = lanes.plane(elements);
  const std::size_t stride = lanes.of_row();
  const std::size_t whole_rows = plane / stride;
  const std::size_t rest = plane - whole_rows * stride;
  std::size_t first_lane = 0;
  for (std::size_t begin = 0; begin < elements; begin += plane) {
    for (std::size_t row = 0; row < whole_rows; row += rows_per_run) {
      const std::size_t rows = std::min(rows_per_run, whole_rows - row);
      for (std::size_t lane = 0; lane < stride; lane += block_lanes) {
        visit(WholeBlock{}, BlockRun{begin + row * stride + lane, rows, first_lane + lane, stride});
      }
    }
    for (std::size_t lane = 0; lane < rest; lane += block_lanes) {
      visit(PartOfBlock{rest - lane},
            BlockRun{begin + whole_rows * stride + lane, 1, first_lane + lane, stride});
    }
    first_lane = (first_lane + stride) % lanes.count();
  }
}

// Calls visit(index of the vector's first element, v) for every vector of the run, row by row.
template <typename Visit>
inline void for_each_vector(const BlockRun& run, Visit visit) {
  for (std::size_t row = 0; row < run.rows; ++row) {
    const std::size_t place = run.first + row * run.stride;
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
