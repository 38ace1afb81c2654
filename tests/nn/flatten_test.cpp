#include "nn/flatten.hpp"

#include <gtest/gtest.h>

#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {
namespace {

TEST(Flatten, OrdersByChannelThenRowThenColumn) {
  constexpr Shape shape{5, 7, 20};
  LayerUnderTest test(std::make_unique<Flatten>(shape), 2);
  test.forward();
  std::size_t place = 0;
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t c = 0; c < 20; ++c) {
      for (std::size_t y = 0; y < 5; ++y) {
        for (std::size_t x = 0; x < 7; ++x, ++place) {
          ASSERT_EQ(test.output()[place], test.input()[((n * 5 + y) * 7 + x) * 20 + c]);
        }
      }
    }
  }
}

TEST(Flatten, GradientsAreTheDerivatives) {
  LayerUnderTest test(std::make_unique<Flatten>(Shape{3, 4, 18}), 2);
  test.expect_derivatives(0, 0.5F, 1e-5);
}

}  // namespace
}  // namespace rubato::nn
