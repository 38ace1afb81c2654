// Tests that go wrong on purpose, each on one rank only: CTest expects this program to fail, with a
// message that names rank and test.
#include <gtest/gtest.h>

#include "collectives/communicator.hpp"

namespace rubato::collectives {
namespace {

TEST(OnPurpose, TheLastRankDoesNotCome) {
  const Communicator world = Communicator::world();
  if (world.rank() + 1 != world.size()) {
    world.barrier();
  }
}

TEST(OnPurpose, TheLastRankFails) {
  const Communicator world = Communicator::world();
  EXPECT_NE(world.rank() + 1, world.size());
}

}  // namespace
}  // namespace rubato::collectives
