// What ranks add up in these tests: numbers that differ by rank and position, with a closed sum.
//
// The period is a prime above the block size, so a part that lands at a wrong place shows; all
// numbers and sums are integers below 2^24, so they are exact in float.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "collectives/topology.hpp"

namespace rubato::collectives {

inline constexpr std::size_t pattern_period = 8191;

template <class T>
T pattern_value(std::size_t rank, std::size_t position) {
  return static_cast<T>((rank + 1) * (position % pattern_period + 1));
}

// Of ranks 0 ... rank_count - 1.
template <class T>
T pattern_sum(std::size_t rank_count, std::size_t position) {
  return static_cast<T>(rank_count * (rank_count + 1) / 2 * (position % pattern_period + 1));
}

template <class T>
void fill_with_pattern(std::size_t rank, std::span<T> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = pattern_value<T>(rank, i);
  }
}

template <class T>
std::vector<T> pattern(std::size_t rank, std::size_t count) {
  std::vector<T> values(count);
  fill_with_pattern<T>(rank, values);
  return values;
}

// Positions where `values`, which begin at `begin` of the array, are not the closed sum.
template <class T>
std::size_t wrong_sums(std::span<const T> values, std::size_t rank_count, std::size_t begin = 0) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    wrong += values[i] == pattern_sum<T>(rank_count, begin + i) ? 0U : 1U;
  }
  return wrong;
}

// Around the edges of blocks, chunks and cache lines; fewer elements than ranks; none.
inline const std::vector<std::size_t> interesting_counts{
    0, 1, 3, 17, 4095, 4096, 4097, 3 * 4096 + 5, 32768 + 1, 100'003, 600'011};

// The real hosts, and ways in which a job's ranks can be cut into nodes of 1, 2 or 3 ranks (the
// last node may be smaller): one host plays them all. Made once, because making communicators is
// slow.
class Topologies : public testing::Environment {
 public:
  static const std::vector<Topology>& all() { return topologies(); }

 private:
  static std::vector<Topology>& topologies() {
    static std::vector<Topology> made;
    return made;
  }

  void SetUp() override {
    const Communicator world = Communicator::world();
    topologies().emplace_back(world);
    const std::vector<std::size_t> really = topologies().front().ranks_per_node();
    for (std::size_t per_node = 1; per_node < std::min<std::size_t>(world.size(), 4); ++per_node) {
      const bool splits_hosts = std::ranges::all_of(
          really, [&](std::size_t ranks) { return really.size() == 1 || ranks % per_node == 0; });
      if (splits_hosts) topologies().emplace_back(world, per_node);
    }
  }
  void TearDown() override { topologies().clear(); }
};

inline const std::vector<Topology>& real_and_pretended_topologies() { return Topologies::all(); }
inline const Topology& real_topology() { return Topologies::all().front(); }

}  // namespace rubato::collectives
