#include "collectives/recursive_doubling.hpp"

#include <gtest/gtest.h>

#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

TEST(RecursiveDoubling, WorksOnAnyCommunicatorNotOnlyTheWorld) {
  const Communicator world = Communicator::world();
  // All but the last rank, in reverse order; the last is alone.
  const bool is_last = world.rank() + 1 == world.size();
  const Communicator part = world.split(is_last ? 1 : 0, -static_cast<int>(world.rank()));
  for (const std::size_t count : interesting_counts) {
    std::vector<double> data = pattern<double>(part.rank(), count);
    recursive_doubling_sum<double>(part, data);
    EXPECT_EQ(wrong_sums<double>(data, part.size()), 0) << count << " elements";
  }
}

}  // namespace
}  // namespace rubato::collectives
