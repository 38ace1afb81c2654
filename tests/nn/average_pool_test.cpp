#include "nn/average_pool.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/nn/blocks_of_channels.hpp"
#include "tests/nn/layer_under_test.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

TEST(AveragePool, IsTheMeanOverThePixelsOfEachChannel) {
  for (const std::size_t channels : {1U, 3U, 64U}) {
    LayerUnderTest test(std::make_unique<AveragePool>(Shape{3, 5, channels}), 4);
    for (std::size_t i = 0; i < test.input().size(); ++i) {  // 0 to 14, plus 100 times the channel
      test.input()[i] =
          static_cast<float>(i / channels % 15 + 100 * (i % channels) + i / channels / 15);
    }
    test.forward();
    ASSERT_EQ(test.layer().output_shape(), (Shape{1, 1, channels}));
    for (std::size_t i = 0; i < test.output().size(); ++i) {
      EXPECT_EQ(test.output()[i], static_cast<float>(7 + 100 * (i % channels) + i / channels));
    }
  }
}

TEST(AveragePool, TakesBlocksOfChannels) {
  const Shape shape{3, 5, 48};
  for (const Order order : orders_in_blocks) {
    LayerUnderTest test(std::make_unique<AveragePool>(in_blocks(shape, order)), 4);
    LayerUnderTest twin(std::make_unique<AveragePool>(shape), 4);
    EXPECT_EQ(test.layer().output_shape(), (Shape{1, 1, 48}));
    expect_same(test, twin, 1e-12);
  }
}

TEST(AveragePool, RefusesBlocksThatAreNotFull) {
  EXPECT_EQ(refusal_of([] {
              AveragePool({3, 5, 40, Order::blocks_of_16});
            }),
            "blocks of 16 channels cannot hold 40");
  EXPECT_EQ(refusal_of([] {
              AveragePool({3, 5, 20, Order::blocks_of_8});
            }),
            "blocks of 8 channels cannot hold 20");
}

TEST(AveragePool, GradientsAreTheDerivatives) {
  for (const Shape shape : {Shape{2, 3, 10}, Shape{1, 1, 5}, Shape{8, 8, 1}}) {
    LayerUnderTest test(std::make_unique<AveragePool>(shape), 3);
    test.expect_derivatives(0, 0.5F, 1e-5);  // linear: any step is exact
  }
}

}  // namespace
}  // namespace rubato::nn
