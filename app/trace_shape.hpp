// Traces made from a rule: how the batch size goes, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato::app {

// `rows` times the same.
std::vector<std::uint64_t> constant_trace(std::uint64_t rows, std::uint64_t batch_size);

// Each size in turn, for equally many rows; where that does not come out even, the first ones have
// a row more. Throws std::invalid_argument if there are fewer rows than sizes.
std::vector<std::uint64_t> step_trace(std::uint64_t rows, const std::vector<std::uint64_t>& sizes);

// Begins with `first` and doubles every `every` rows, up to `most`.
std::vector<std::uint64_t> doubling_trace(std::uint64_t rows, std::uint64_t first,
                                          std::uint64_t every, std::uint64_t most);

// A walk over the multiples of `minibatch` between `least` and `most`, from `first`. Each row moves
// by up to `jump` minibatches either way, all moves alike likely, and stays within the bounds. Row
// i draws from SplitMix64 at position i of the sequence that `seed` begins (Steele, Lea and Flood
// 2014, doi:10.1145/2660193.2660195), in integers only: the same on every machine.
struct RandomWalk {
  std::uint64_t rows = 0;
  std::uint64_t minibatch = 0;
  std::uint64_t first = 0;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t jump = 0;
  std::uint64_t seed = 0;
};
// Throws std::invalid_argument if the bounds are the wrong way round, or hold no multiple of the
// minibatch.
std::vector<std::uint64_t> random_walk_trace(const RandomWalk& walk);

}  // namespace rubato::app
