// Ranks with more, less and nothing to tell.
#include "collectives/collect.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rubato::collectives {
namespace {

// Rank r has r^2 * 100'003 bytes: nothing at first, beyond what MPI sends unasked at last.
std::string text_of(std::size_t rank) {
  return std::string(rank * rank * 100'003, static_cast<char>('a' + rank));
}

TEST(Collect, VisitsEveryRanksBytesInOrder) {
  const Communicator world = Communicator::world();
  const std::string mine = text_of(world.rank());
  std::vector<std::size_t> visited;
  collect(world, std::as_bytes(std::span(mine)),
          [&](std::size_t rank, std::span<const std::byte> bytes) {
            visited.push_back(rank);
            const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            EXPECT_TRUE(text == text_of(rank)) << "rank " << rank;
          });
  std::vector<std::size_t> everyone;
  for (std::size_t rank = 0; world.rank() == 0 && rank < world.size(); ++rank) {
    everyone.push_back(rank);
  }
  EXPECT_EQ(visited, everyone);
}

}  // namespace
}  // namespace rubato::collectives
