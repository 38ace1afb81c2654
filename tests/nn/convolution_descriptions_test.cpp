#include "nn/convolution_descriptions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "nn/backend.hpp"
#include "nn/weight_gradient_3x3.hpp"
#include "tests/nn/blocks_of_channels.hpp"
#include "tests/nn/winograd_here.hpp"

namespace rubato::nn {
namespace {

using testing::HasSubstr;
using testing::Not;

ConvolutionGeometry same_size(std::size_t inputs, std::size_t outputs, std::size_t extent) {
  return {.name = "conv",
          .input = {extent, extent, inputs},
          .outputs = outputs,
          .kernel = 3,
          .padding = 1};
}

// Among convolutions between many channels.
Order best_here() {
  if (has_winograd_here()) return Order::blocks_of_16;
  return has_avx2_alone() ? Order::blocks_of_8 : Order::channels_last;
}

TEST(ConvolutionDescriptions, WinogradPaysWithManyChannels) {
  EXPECT_TRUE(winograd_pays(same_size(32, 64, 16), 32));
  EXPECT_TRUE(winograd_pays(same_size(48, 32, 16), 32));
  EXPECT_FALSE(winograd_pays(same_size(16, 32, 16), 32));
  EXPECT_FALSE(winograd_pays(same_size(32, 16, 16), 32));
  EXPECT_FALSE(winograd_pays(same_size(40, 32, 16), 32));
}

TEST(ConvolutionDescriptions, WinogradPaysWithEnoughTilesThatLieInTheImage) {
  EXPECT_TRUE(winograd_pays(same_size(64, 64, 8), 4));
  EXPECT_FALSE(winograd_pays(same_size(64, 64, 8), 3));
  EXPECT_TRUE(winograd_pays(same_size(64, 64, 4), 16));
  EXPECT_TRUE(winograd_pays(same_size(64, 64, 7), 32));   // 49 of 64 pixels
  EXPECT_FALSE(winograd_pays(same_size(64, 64, 9), 32));  // 81 of 144
  EXPECT_FALSE(winograd_pays(same_size(64, 64, 2), 32));
}

TEST(ConvolutionDescriptions, WinogradIsForThreeByThreeWithoutStride) {
  ConvolutionGeometry geometry = same_size(64, 64, 16);
  geometry.stride = 2;
  EXPECT_FALSE(winograd_pays(geometry, 32));
  geometry = same_size(64, 64, 16);
  geometry.kernel = 5;
  geometry.padding = 2;
  EXPECT_FALSE(winograd_pays(geometry, 32));
  geometry.kernel = 3;
  EXPECT_FALSE(winograd_pays(geometry, 32));
  geometry.padding = 0;
  EXPECT_TRUE(winograd_pays(geometry, 32));
}

TEST(ConvolutionDescriptions, TakeWinogradsKernelsWhereThereAreSome) {
  const bool has_them = has_winograd_here();
  for (const Activation activation : {Activation::none, Activation::relu}) {
    for (const bool has_bias : {false, true}) {
      ConvolutionGeometry geometry = same_size(64, 32, 8);
      geometry.activation = activation;
      geometry.has_bias = has_bias;
      const ConvolutionDescriptions chosen(geometry, 32, Backend::onednn);
      for (const std::string name :
           {chosen.forward.impl_info_str(), chosen.backward_data.impl_info_str(),
            chosen.backward_weights.impl_info_str()}) {
        EXPECT_EQ(name.find("wino") != std::string::npos, has_them) << name;
      }
      EXPECT_EQ(chosen.order, best_here());
      EXPECT_EQ(chosen.input != chosen.network_input, best_here() != Order::channels_last);
      EXPECT_EQ(chosen.output != chosen.network_output, best_here() != Order::channels_last);
    }
  }
}

void expect_direct(const ConvolutionDescriptions& chosen, Order order) {
  for (const std::string name :
       {chosen.forward.impl_info_str(), chosen.backward_data.impl_info_str(),
        chosen.backward_weights.impl_info_str()}) {
    EXPECT_THAT(name, Not(HasSubstr("wino")));
  }
  EXPECT_EQ(chosen.order, order);
  EXPECT_EQ(chosen.input == chosen.network_input, order == Order::channels_last);
  EXPECT_EQ(chosen.output == chosen.network_output, order == Order::channels_last);
}

TEST(ConvolutionDescriptions, TakeDirectKernelsOtherwise) {
  expect_direct({same_size(16, 32, 8), 32, Backend::onednn}, Order::channels_last);
  expect_direct({same_size(64, 64, 8), 32, Backend::onednn_direct}, Order::channels_last);
}

TEST(ConvolutionDescriptions, TakeOurOwnWeightGradientWhereItIsFaster) {
  for (const Order order : {Order::channels_last, Order::blocks_of_8}) {
    ConvolutionGeometry geometry = same_size(16, 32, 8);
    geometry.input.order = geometry.output_order = order;
    EXPECT_EQ(ConvolutionDescriptions(geometry, 32, Backend::onednn).has_own_weight_gradient,
              has_avx2_alone() && has_weight_gradient_3x3(geometry));
    EXPECT_FALSE(
        ConvolutionDescriptions(geometry, 32, Backend::onednn_direct).has_own_weight_gradient);
  }
  EXPECT_FALSE(
      ConvolutionDescriptions(same_size(16, 40, 8), 32, Backend::onednn).has_own_weight_gradient);
}

// Without copies, by Winograd's kernels and by direct ones.
TEST(ConvolutionDescriptions, TakeBlocksOfChannelsAsTheyAre) {
  ConvolutionGeometry geometry = same_size(64, 32, 8);
  for (const Order order : orders_in_blocks) {
    geometry.input.order = geometry.output_order = order;
    for (const std::size_t samples : {3U, 32U}) {
      const ConvolutionDescriptions chosen(geometry, samples, Backend::onednn);
      EXPECT_EQ(chosen.is_winograd, samples == 32 && has_winograd_here());
      if (chosen.is_winograd && order == Order::blocks_of_8) continue;
      EXPECT_EQ(chosen.order, order);
      EXPECT_EQ(chosen.input, chosen.network_input);
      EXPECT_EQ(chosen.output, chosen.network_output);
    }
  }
  const ConvolutionDescriptions in_order(same_size(64, 32, 8), 3, Backend::onednn);
  EXPECT_NE(in_order.network_input, ConvolutionDescriptions(geometry, 3, Backend::onednn).input);
}

TEST(ConvolutionDescriptions, TakeSixteenChannelsForABlock) {
  ConvolutionGeometry geometry = same_size(16, 32, 8);
  geometry.stride = 2;
  const ConvolutionDescriptions side_by_side(geometry, 8, Backend::onednn);
  geometry.output_order = Order::blocks_of_16;
  const ConvolutionDescriptions in_blocks(geometry, 8, Backend::onednn);
  EXPECT_NE(in_blocks.output, side_by_side.output);
  for (const ConvolutionDescriptions& chosen : {side_by_side, in_blocks}) {
    EXPECT_EQ(chosen.input, chosen.network_input);
    EXPECT_EQ(chosen.output, chosen.network_output);
  }
}

// One block of 8 is not half a block of 16.
TEST(ConvolutionDescriptions, CopyBlocksOfTheOtherSize) {
  ConvolutionGeometry geometry = same_size(16, 32, 8);
  geometry.input.order = Order::blocks_of_8;
  geometry.output_order = Order::blocks_of_16;
  const ConvolutionDescriptions chosen(geometry, 8, Backend::onednn);
  EXPECT_NE(chosen.input, chosen.network_input);
  EXPECT_EQ(chosen.output, chosen.network_output);
}

// Those of the image cannot come in blocks, so the outputs are copied into them.
TEST(ConvolutionDescriptions, HaveNoBlocksOfFewerChannels) {
  ConvolutionGeometry geometry = same_size(3, 32, 8);
  geometry.output_order = Order::blocks_of_16;
  const ConvolutionDescriptions chosen(geometry, 8, Backend::onednn);
  EXPECT_EQ(chosen.input, chosen.network_input);
  EXPECT_NE(chosen.output, chosen.network_output);
  EXPECT_EQ(chosen.output, ConvolutionDescriptions(same_size(3, 32, 8), 8, Backend::onednn).output);
}

TEST(ConvolutionDescriptions, BestOrderIsThatOfTheBestKernels) {
  EXPECT_EQ(best_order({16, 16, 32}, Backend::onednn), best_here());
  EXPECT_EQ(best_order({8, 8, 64}, Backend::onednn), best_here());
  EXPECT_EQ(best_order({16, 16, 16}, Backend::onednn), Order::channels_last);
  EXPECT_EQ(best_order({16, 16, 36}, Backend::onednn), Order::channels_last);
  EXPECT_EQ(best_order({2, 2, 64}, Backend::onednn), Order::channels_last);
  EXPECT_EQ(best_order({7, 7, 64}, Backend::onednn), Order::channels_last);  // an odd pixel
  EXPECT_EQ(best_order({16, 16, 32}, Backend::onednn_direct), Order::channels_last);
  EXPECT_EQ(best_order({16, 16, 32}, Backend::eigen), Order::channels_last);
}

// An instruction set is chosen for a whole process: the case has one of its own.
TEST(ConvolutionDescriptionsDeathTest, TakeBlocksOf8WithAvx2AloneWhereTheyPay) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto choose = [] {
    select_kernels(Backend::onednn, "avx2");
    for (const auto& [inputs, outputs, extent] :
         {std::array<std::size_t, 3>{64, 64, 8}, {32, 40, 4}, {512, 512, 4}}) {
      expect_direct({same_size(inputs, outputs, extent), 32, Backend::onednn}, Order::blocks_of_8);
    }
    for (const auto& [inputs, outputs, extent] :
         {std::array<std::size_t, 3>{24, 32, 8}, {32, 24, 8}, {36, 32, 8}, {64, 64, 3}}) {
      expect_direct({same_size(inputs, outputs, extent), 32, Backend::onednn},
                    Order::channels_last);
    }
    ConvolutionGeometry geometry = same_size(64, 64, 4);
    geometry.stride = 2;
    expect_direct({geometry, 32, Backend::onednn}, Order::channels_last);
    geometry = same_size(64, 64, 8);
    for (const std::size_t kernel : {1U, 5U}) {
      geometry.kernel = kernel;
      geometry.padding = kernel / 2;
      expect_direct({geometry, 32, Backend::onednn}, Order::channels_last);
    }
    for (const Order order : {Order::channels_last, Order::blocks_of_8}) {
      geometry = same_size(64, 64, 2);
      geometry.input.width = 8;
      geometry.input.order = geometry.output_order = order;
      const ConvolutionDescriptions low(geometry, 32, Backend::onednn);
      EXPECT_EQ(low.order, Order::channels_last);
      EXPECT_THAT(low.backward_weights.impl_info_str(), Not(HasSubstr("ref")));
    }
    EXPECT_EQ(best_order({16, 16, 32}, Backend::onednn), Order::blocks_of_8);
    EXPECT_EQ(best_order({16, 16, 40}, Backend::onednn), Order::blocks_of_8);
    EXPECT_EQ(best_order({6, 7, 64}, Backend::onednn), Order::channels_last);
    EXPECT_EQ(best_order({2, 2, 64}, Backend::onednn), Order::channels_last);
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(choose(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rubato::nn
