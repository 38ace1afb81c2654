// Weights that must not be saved.
#include "runtime/weights_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "runtime/errors.hpp"

namespace rubato::runtime {
namespace {

using collectives::Communicator;
using collectives::Topology;

Replica make_replica(const Topology& topology) {
  return {topology, nn::make_model("linear", {1, 1, 3}, 2, nn::backend("auto")), {}, 1};
}

TEST(WeightsCheck, RefusesInfinitiesOfOneHostOnEveryRankAndNamesTheUpdate) {
  const Communicator world = Communicator::world();
  const Topology topology(world, 1);  // each rank a host
  const Replica replica = make_replica(topology);
  EXPECT_TRUE(has_finite_weights(replica));
  EXPECT_NO_THROW(require_finite_weights(replica, topology, 7));
  const bool is_bad = world.rank() + 1 == world.size();
  if (is_bad) replica.shared().parameters[2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(has_finite_weights(replica), !is_bad);
  try {
    require_finite_weights(replica, topology, 7);
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("update 7: the weights are not finite"));
  }
}

TEST(WeightsCheck, SeesOneBitThatDiffersBetweenHosts) {
  const Communicator world = Communicator::world();
  const Topology topology(world, 1);  // each rank a host
  const Replica replica = make_replica(topology);
  EXPECT_NO_THROW(require_same_weights(replica, topology, 7));
  if (world.size() == 1) return;
  if (world.rank() == 1) {
    float& weight = replica.shared().parameters[4];
    weight = std::nextafter(weight, 1.0F);
  }
  try {
    require_same_weights(replica, topology, 7);
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("update 7: the weights' digest differs"));
  }
}

}  // namespace
}  // namespace rubato::runtime
