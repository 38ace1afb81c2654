#include "collectives/mpi_count.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace rubato::collectives {
namespace {

using Chunks = std::vector<std::pair<std::size_t, std::size_t>>;

Chunks chunks_of(std::size_t count) {
  Chunks chunks;
  for_each_chunk(count,
                 [&](std::size_t begin, std::size_t size) { chunks.emplace_back(begin, size); });
  return chunks;
}

TEST(MpiCount, NumbersUpToTheLargestIntPass) {
  EXPECT_EQ(mpi_int(0), 0);
  EXPECT_EQ(mpi_int(2147483647), std::numeric_limits<int>::max());
  EXPECT_THROW(mpi_int(2147483648), std::length_error);
  EXPECT_THROW(mpi_int(std::numeric_limits<std::size_t>::max()), std::length_error);
}

TEST(MpiCount, AnArrayBeyondTheLargestIntIsCut) {
  const std::size_t count = (std::size_t{1} << 31) + 3;
  std::size_t covered = 0;
  for (const auto& [begin, size] : chunks_of(count)) {
    EXPECT_EQ(begin, covered);
    EXPECT_NO_THROW(mpi_int(size));
    covered += size;
  }
  EXPECT_EQ(covered, count);
}

TEST(MpiCount, ALoweredLimitHoldsUntilTheEndOfItsScope) {
  {
    const ScopedMaxElementsPerCall limit(4);
    EXPECT_EQ(chunks_of(0), Chunks{});
    EXPECT_EQ(chunks_of(8), (Chunks{{0, 4}, {4, 4}}));
    EXPECT_EQ(chunks_of(9), (Chunks{{0, 4}, {4, 4}, {8, 1}}));
  }
  EXPECT_EQ(chunks_of(9), (Chunks{{0, 9}}));
}

}  // namespace
}  // namespace rubato::collectives
