#include "nn/buffer_plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

TEST(GradientBuffers, AChainUsesTwoInTurn) {
  const std::vector<Wiring> chain = {{}, {0}, {1}, {2}};
  const GradientBuffers plan = plan_gradient_buffers(chain);
  EXPECT_EQ(plan.count, 2U);
  EXPECT_EQ(plan.layers[0].input, absent);
  for (std::size_t layer = 1; layer < chain.size(); ++layer) {
    EXPECT_NE(plan.layers[layer].input, plan.layers[layer].output);
    EXPECT_EQ(plan.layers[layer].input, plan.layers[layer - 1].output);
    EXPECT_EQ(plan.layers[layer].second_output, absent);
  }
}

TEST(GradientBuffers, ALayerInPlaceKeepsTheBuffer) {
  const GradientBuffers plan = plan_gradient_buffers(std::vector<Wiring>{{}, {0, absent, true}});
  EXPECT_EQ(plan.count, 1U);
  EXPECT_EQ(plan.layers[1].input, plan.layers[1].output);
}

// Plays a backward pass: a layer takes the gradient of its output and delivers those of its input
// and its addend; no delivery may hit a buffer that still holds what nobody has taken.
void play(const std::vector<Wiring>& layers) {
  const GradientBuffers plan = plan_gradient_buffers(layers);
  std::vector<std::set<std::size_t>> holds(plan.count);  // layers whose gradient lies there
  holds[plan.layers.back().output] = {layers.size() - 1};
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    const GradientPlaces& places = plan.layers[layer];
    for (const std::size_t place : {places.output, places.second_output}) {
      if (place == absent) continue;
      ASSERT_EQ(holds.at(place), std::set<std::size_t>{layer});
      holds[place].clear();
    }
    if (layers[layer].addend != absent) holds[places.output].insert(layers[layer].addend);
    if (layers[layer].input == absent) {
      EXPECT_EQ(places.input, absent);
      continue;
    }
    ASSERT_TRUE(holds.at(places.input).empty()) << "layer " << layer;
    ASSERT_NE(places.input, places.second_output);
    ASSERT_TRUE(places.input != places.output || layers[layer].works_in_place);
    holds[places.input].insert(layers[layer].input);
  }
  for (const std::set<std::size_t>& held : holds) EXPECT_TRUE(held.empty());
}

// 0 convolution, 1 norm, 2-5 a block past which 1 goes, 6-11 a block with a projection.
const std::vector<Wiring> blocks = {{},
                                    {0, absent, true},
                                    {1},
                                    {2, absent, true},
                                    {3},
                                    {4, 1},
                                    {5},
                                    {6, absent, true},
                                    {7},
                                    {5},
                                    {9, absent, true},
                                    {8, 10},
                                    {11}};

TEST(GradientBuffers, EveryGradientIsThereWhenItIsTaken) {
  play(blocks);
  EXPECT_EQ(plan_gradient_buffers(blocks).count, 3U);
  std::vector<Wiring> not_in_place = blocks;
  for (Wiring& layer : not_in_place) layer.works_in_place = false;
  play(not_in_place);
}

TEST(GradientBuffers, RefusesWhatCannotBe) {
  const auto refusal = [](const std::vector<Wiring>& layers) {
    return refusal_of([&] { plan_gradient_buffers(layers); });
  };
  EXPECT_EQ(refusal({{}, {2}, {0}}),
            "layer 1 takes its values from layer 2, which does not come before it");
  EXPECT_EQ(refusal({{}, {0}, {0}}), "nobody takes the output of layer 1");
  EXPECT_EQ(refusal({{}, {0}, {0, 1}, {0, 2}}), "the output of layer 0 goes more than two ways");
}

// Plays a pass forwards: what a layer takes must still lie where it was written.
std::size_t play_forwards(const std::vector<Wiring>& layers) {
  const OutputBuffers plan = plan_output_buffers(layers);
  std::vector<std::size_t> holds(plan.count, absent);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (const std::size_t source : {layers[layer].input, layers[layer].addend}) {
      if (source == absent) continue;
      EXPECT_EQ(holds.at(plan.layers[source]), source) << "layer " << layer;
      EXPECT_NE(plan.layers[source], plan.layers[layer]) << "layer " << layer;
    }
    holds.at(plan.layers[layer]) = layer;
  }
  return plan.count;
}

TEST(OutputBuffers, KeepAnOutputUntilItsLastUser) {
  EXPECT_EQ(play_forwards({{}}), 1U);
  EXPECT_EQ(play_forwards({{}, {0}, {1}, {2}, {3}}), 2U) << "a chain";
  EXPECT_EQ(play_forwards(blocks), 3U);
  EXPECT_EQ(play_forwards({{}, {0}, {1, 1}, {2}, {3}, {4, 3}}), 3U)
      << "what one layer takes twice is given back once";
}

}  // namespace
}  // namespace rubato::nn
