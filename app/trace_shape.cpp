// See trace_shape.hpp.
#include "app/trace_shape.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato::app {
namespace {

std::uint64_t split_mix(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t x = seed + (position + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

std::vector<std::uint64_t> constant_trace(std::uint64_t rows, std::uint64_t batch_size) {
  return std::vector<std::uint64_t>(rows, batch_size);
}

std::vector<std::uint64_t> step_trace(std::uint64_t rows, const std::vector<std::uint64_t>& sizes) {
  if (rows < sizes.size()) {
    throw std::invalid_argument("found " + std::to_string(rows) + " rows for " +
                                std::to_string(sizes.size()) +
                                " batch sizes, expected at least one row for each");
  }
  std::vector<std::uint64_t> trace;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint64_t count = rows / sizes.size() + (i < rows % sizes.size() ? 1 : 0);
    trace.insert(trace.end(), count, sizes[i]);
  }
  return trace;
}

std::vector<std::uint64_t> doubling_trace(std::uint64_t rows, std::uint64_t first,
                                          std::uint64_t every, std::uint64_t most) {
  std::vector<std::uint64_t> trace;
  std::uint64_t size = std::min(first, most);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const bool doubles = row > 0 && row % every == 0;
    if (doubles) size = size > most / 2 ? most : 2 * size;
    trace.push_back(size);
  }
  return trace;
}

std::vector<std::uint64_t> random_walk_trace(const RandomWalk& walk) {
  // In minibatches: whole ones between the bounds.
  const std::uint64_t least =
      walk.least / walk.minibatch + (walk.least % walk.minibatch > 0 ? 1 : 0);
  const std::uint64_t most = walk.most / walk.minibatch;
  if (least > most || most == 0) {
    throw std::invalid_argument("found bounds " + std::to_string(walk.least) + " and " +
                                std::to_string(walk.most) +
                                ", expected a multiple of the minibatch (" +
                                std::to_string(walk.minibatch) + ") between them");
  }
  const std::uint64_t floor = std::max<std::uint64_t>(least, 1);
  std::uint64_t size = std::clamp(walk.first / walk.minibatch, floor, most);
  std::vector<std::uint64_t> trace;
  for (std::uint64_t row = 0; row < walk.rows; ++row) {
    trace.push_back(size * walk.minibatch);
    const std::uint64_t move = split_mix(walk.seed, row) % (2 * walk.jump + 1);  // less jump
    size = move < walk.jump ? size - std::min(size - floor, walk.jump - move)
                            : size + std::min(most - size, move - walk.jump);
  }
  return trace;
}

}  // namespace rubato::app
