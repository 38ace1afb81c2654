// Hosts whose clocks are set as the test likes, made of consecutive ranks of this one.
#include "collectives/clock_offset.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace rubato::collectives {
namespace {

class ClockOffsetTest : public testing::Test {
 protected:
  const Communicator world = Communicator::world();
};

TEST_F(ClockOffsetTest, IsWhatAHostsClockIsAheadBy) {
  const Topology topology(world, 2);
  const auto hour = std::int64_t{3'600'000'000'000};
  const auto ahead = hour * static_cast<std::int64_t>(topology.node_index());
  const ClockOffset offset = clock_offset(topology, [&] { return steady_nanoseconds() + ahead; });
  EXPECT_GE(offset.nanoseconds, ahead - offset.uncertainty);
  EXPECT_LE(offset.nanoseconds, ahead + offset.uncertainty);
  EXPECT_LT(offset.uncertainty, 1'000'000'000);
  EXPECT_EQ(offset.uncertainty == 0, topology.node_index() == 0);
}

TEST_F(ClockOffsetTest, IsNegativeForAClockThatIsBehind) {
  const Topology topology(world, 1);
  const std::int64_t behind = topology.node_index() == 0 ? 0 : 5'000'000'000;
  const ClockOffset offset = clock_offset(topology, [&] { return steady_nanoseconds() - behind; });
  EXPECT_GE(offset.nanoseconds, -behind - offset.uncertainty);
  EXPECT_LE(offset.nanoseconds, -behind + offset.uncertainty);
}

TEST_F(ClockOffsetTest, OnOneNodeIsNothing) {
  const ClockOffset offset = clock_offset(Topology(world, world.size()));
  EXPECT_EQ(offset.nanoseconds, 0);
  EXPECT_EQ(offset.uncertainty, 0);
}

}  // namespace
}  // namespace rubato::collectives
