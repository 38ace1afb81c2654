#include "optim/inner_products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace rubato::optim {
namespace {

std::vector<float> wave(std::size_t size, double phase) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) * 0.37 + phase));
  }
  return values;
}

MeasuredPieces whole(std::size_t size) { return {.size = size}; }

TEST(InnerProducts, AreThoseOfAPlainLoop) {
  for (const std::size_t size : {0UL, 16UL, 80UL, 4096UL}) {
    const std::vector<float> a = wave(size, 0), b = wave(size, 1), w = wave(size, 2);
    double plain = 0, scaled = 0, squares = 0;
    for (std::size_t i = 0; i < size; ++i) {
      plain += double{a[i]} * double{b[i]};
      scaled += double{a[i] * w[i]} * double{b[i] * w[i]};
      squares += double{a[i] * w[i]} * double{a[i] * w[i]};
    }
    EXPECT_NEAR(product(a, b), plain, 1e-12 * static_cast<double>(size));
    EXPECT_NEAR(product(whole(size), a, b, w), scaled, 1e-12 * static_cast<double>(size));
    EXPECT_NEAR(square(whole(size), a, w), squares, 1e-12 * static_cast<double>(size));
    EXPECT_EQ(square(whole(size), a, w), product(whole(size), a, a, w));
  }
}

TEST(InnerProducts, TellEveryElement) {
  for (std::size_t i = 0; i < 32; ++i) {
    std::vector<float> a(32), b(32), w(32, 0.5F);
    a[i] = 3;
    b[i] = static_cast<float>(i + 1);
    EXPECT_EQ(product(a, b), 3.0 * static_cast<double>(i + 1));
    EXPECT_EQ(product(whole(32), a, b, w), 0.75 * static_cast<double>(i + 1));
  }
}

// Squares of the largest floats are no more than doubles hold.
TEST(InnerProducts, DoNotOverflowWhereFloatsDo) {
  const std::vector<float> large(16, 3e38F), one(16, 1.0F);
  EXPECT_TRUE(std::isfinite(product(large, large)));
  EXPECT_TRUE(std::isfinite(square(whole(16), large, one)));
}

// Each with its own scales, and as if they lay one behind the other.
TEST(InnerProducts, AreThoseOfPieces) {
  const std::vector<float> a = wave(512, 0), b = wave(512, 1), w = wave(64, 2);
  const MeasuredPieces pieces{32, 64, {32, 208, 480, 496}};
  std::vector<float> a_gathered, b_gathered;
  for (std::size_t i = 0; i < pieces.count(); ++i) {
    for (std::size_t k = 0; k < piece_elements; ++k) {
      a_gathered.push_back(a[pieces.begins[i] + k]);
      b_gathered.push_back(b[pieces.begins[i] + k]);
    }
  }
  EXPECT_EQ(product(pieces, a, b, w), product(whole(64), a_gathered, b_gathered, w));
  EXPECT_EQ(square(pieces, a, w), square(whole(64), a_gathered, w));
  EXPECT_EQ(square({.weight = 32}, a, w), 0);
}

}  // namespace
}  // namespace rubato::optim
