#include "app/self_test.hpp"

#include <gtest/gtest.h>

#include "collectives/allreduce.hpp"
#include "collectives/communicator.hpp"

namespace rubato::app {
namespace {

TEST(SelfTest, PassesOnAHealthyMachineAndCoversEveryAlgorithm) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  const auto results = self_test(topology);
  std::size_t sums = 0;
  for (const auto& check : results) {
    const bool is_timing = check.name == "barrier within a host";  // a busy machine may be slow
    if (!is_timing) {
      EXPECT_EQ(check.problem, "") << check.name;
    }
    if (check.name.rfind("allreduce ", 0) == 0) ++sums;
  }
  EXPECT_EQ(sums, collectives::allreduce_algorithm_names().size());
  EXPECT_GE(results.size(), sums + 4);
}

TEST(SelfTest, SaysTheSameOnEveryRank) {
  const auto world = collectives::Communicator::world();
  const auto results = self_test(collectives::Topology(world));
  std::string mine;
  for (const auto& check : results) mine += check.name + ": " + check.measured + "\n";
  for (const auto& theirs : world.gather(mine)) EXPECT_EQ(theirs, mine);
}

}  // namespace
}  // namespace rubato::app
