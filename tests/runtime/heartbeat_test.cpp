// Each rank sees what each rank of its node is doing.
#include "runtime/heartbeat.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "collectives/communicator.hpp"

namespace rubato::runtime {
namespace {

using namespace std::chrono_literals;

class HeartbeatTest : public testing::Test {
 protected:
  collectives::Communicator world = collectives::Communicator::world();
  collectives::Topology topology{world};
  Heartbeat heartbeat{topology};
};

TEST_F(HeartbeatTest, BeginsAtTheStart) {
  EXPECT_EQ(heartbeat.ranks(), topology.node().size());
  EXPECT_EQ(heartbeat.node_rank(), topology.node().rank());
  for (std::size_t rank = 0; rank < heartbeat.ranks(); ++rank) {
    const Pulse pulse = heartbeat.pulse(rank);
    EXPECT_EQ(pulse.beats, 1U);
    EXPECT_EQ(pulse.update, 0U);
    EXPECT_EQ(pulse.phase, Phase::starting);
    EXPECT_EQ(pulse.watch_ticks, 0U);
  }
  world.barrier();
}

TEST_F(HeartbeatTest, NumbersAndProcessesAreThoseOfTheRanks) {
  const std::string mine = std::to_string(world.rank()) + " " + std::to_string(::getpid());
  const std::vector<std::string> expected = topology.node().gather(mine);
  for (std::size_t rank = 0; rank < heartbeat.ranks(); ++rank) {
    EXPECT_EQ(std::to_string(heartbeat.rank(rank)) + " " + std::to_string(heartbeat.pid(rank)),
              expected[rank]);
  }
}

TEST_F(HeartbeatTest, EveryRanksBeatsAreSeenByAll) {
  world.barrier();
  const std::uint64_t update = 1'000'000'000'000 + topology.node().rank();
  for (std::size_t i = 0; i <= topology.node().rank(); ++i) {
    heartbeat.beat(update, Phase::evaluating);
    heartbeat.tick();
  }
  world.barrier();
  for (std::size_t rank = 0; rank < heartbeat.ranks(); ++rank) {
    const Pulse pulse = heartbeat.pulse(rank);
    EXPECT_EQ(pulse.update, 1'000'000'000'000 + rank);
    EXPECT_EQ(pulse.phase, Phase::evaluating);
    EXPECT_EQ(pulse.beats, rank + 2);
    EXPECT_EQ(pulse.watch_ticks, rank + 1);
  }
  world.barrier();
}

TEST_F(HeartbeatTest, ComputingIsTimedByMinibatch) {
  const auto begin = std::chrono::steady_clock::now();
  heartbeat.beat(1, Phase::computing);
  std::this_thread::sleep_for(20ms);
  heartbeat.beat(1, Phase::computing);
  std::this_thread::sleep_for(20ms);
  heartbeat.beat(1, Phase::summing);
  const std::chrono::duration<double> computing = std::chrono::steady_clock::now() - begin;
  std::this_thread::sleep_for(100ms);
  heartbeat.beat(1, Phase::updating);
  const Pulse pulse = heartbeat.pulse(heartbeat.node_rank());
  EXPECT_EQ(pulse.minibatches, 2U);
  EXPECT_GE(pulse.computing_seconds, 0.040);
  EXPECT_LE(pulse.computing_seconds, computing.count() + 1e-9);  // rounded apart
}

TEST_F(HeartbeatTest, PhasesHaveNames) {
  EXPECT_EQ(name_of(Phase::starting), "starting");
  EXPECT_EQ(name_of(Phase::summing), "summing over ranks");
  EXPECT_EQ(name_of(Phase::waiting), "waiting for other ranks");
  EXPECT_EQ(name_of(Phase::ending), "ending");
}

}  // namespace
}  // namespace rubato::runtime
