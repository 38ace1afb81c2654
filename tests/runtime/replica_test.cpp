// A replica's weights are the node's, its gradient is its own.
#include "runtime/replica.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "nn/model_zoo.hpp"

namespace rubato::runtime {
namespace {

constexpr std::uint64_t seed = 11;

std::unique_ptr<nn::Model> small_model() {
  return nn::make_model("mlp:5", {2, 2, 1}, 3, nn::Backend::eigen);
}

class ReplicaTest : public testing::Test {
 protected:
  collectives::Communicator world = collectives::Communicator::world();
  collectives::Topology topology{world};
};

TEST_F(ReplicaTest, BeginsWithTheModelsInitialValuesAndEmptyOptimizerState) {
  Replica replica(topology, small_model(), {"first", "second"}, seed);
  std::vector<float> expected(replica.layout().total_elements());
  replica.model().initialize(expected, seed);
  const auto parameters = replica.shared().parameters;
  EXPECT_EQ(std::vector<float>(parameters.begin(), parameters.end()), expected);
  ASSERT_EQ(replica.shared().optimizer_state.size(), 2U);
  for (const auto state : replica.shared().optimizer_state) {
    EXPECT_EQ(state.size(), replica.layout().parameter_elements());
    for (const float value : state) EXPECT_EQ(value, 0.0F);
  }
  topology.node().barrier();
}

TEST_F(ReplicaTest, WhatOneRankWritesAllRanksSee) {
  Replica replica(topology, small_model(), {"momentum"}, seed);
  const std::size_t last = topology.node().size() - 1;
  if (topology.node().rank() == last) {
    replica.shared().parameters[3] = 42.0F;
    replica.shared().optimizer_state[0][4] = 43.0F;
  }
  topology.node().barrier();
  EXPECT_EQ(replica.shared().parameters[3], 42.0F);
  EXPECT_EQ(replica.shared().optimizer_state[0][4], 43.0F);
  topology.node().barrier();
}

TEST_F(ReplicaTest, ItsGradientIsOfItsOwnMinibatch) {
  Replica replica(topology, small_model(), {}, seed);
  const float shift = static_cast<float>(world.rank());
  const std::vector<float> inputs{0.1F + shift, 0.2F, 0.3F, 0.4F};
  const std::vector<std::int32_t> labels{1};
  std::vector<float> gradient(replica.layout().total_elements());
  const auto loss =
      replica.run({{.epoch = 0, .index = 0, .begin = 0, .size = 1}, inputs, labels, {}}, gradient);

  std::vector<float> expected(gradient.size());
  const auto twin = small_model();
  twin->use_parameters(replica.shared().parameters);
  const auto twin_loss = twin->gradient({inputs, labels, {seed, 0, 0}}, expected);
  EXPECT_EQ(loss.loss_sum, twin_loss.loss_sum);
  EXPECT_EQ(gradient, expected);
  topology.node().barrier();
}

TEST(TensorRanges, CarryTheLayoutOver) {
  nn::Layout layout;
  layout.add_parameter("w", {3, 7});
  layout.add_running_statistic("m", {7}, 0.1);
  const auto ranges = tensor_ranges(layout);
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].name, "w");
  EXPECT_EQ(ranges[0].size, 21U);
  EXPECT_TRUE(ranges[0].is_parameter);
  EXPECT_FALSE(ranges[0].is_vector);
  EXPECT_TRUE(ranges[1].is_vector);
  EXPECT_EQ(ranges[1].begin, layout.tensors()[1].offset);
  EXPECT_FALSE(ranges[1].is_parameter);
  EXPECT_EQ(ranges[1].statistic_weight, 0.1);
}

}  // namespace
}  // namespace rubato::runtime
