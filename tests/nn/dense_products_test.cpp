#include "nn/dense_products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {
namespace {

constexpr float unwritten = std::numeric_limits<float>::quiet_NaN();
constexpr float beyond = 7.0F;  // the end of a result

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  fill_random(values, seed);
  return values;
}

// The sum of `count` products, one after another, of values that lie some steps apart.
struct Steps {
  const std::vector<float>& values;
  std::size_t first, apart;
};

float product(std::size_t count, const Steps& a, const Steps& b) {
  float sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const float x = a.values[a.first + k * a.apart];
    const float y = b.values[b.first + k * b.apart];
#ifdef __FMA__
    sum = std::fma(x, y, sum);
#else
    sum += x * y;
#endif
  }
  return sum;
}

// Calls multiply(scratch, result) and compares each value's bits with expected(row, column).
template <typename Multiply, typename Expected>
void expect_matrix(const DenseSizes& sizes, std::size_t rows, std::size_t columns,
                   Multiply multiply, Expected expected) {
  AlignedBuffer<float> scratch;
  const std::span<float> space = scratch.first(dense_products_scratch_floats(sizes));
  std::ranges::fill(space, unwritten);
  std::vector<float> result(rows * columns + 1, unwritten);
  result.back() = beyond;
  multiply(space, std::span(result).first(rows * columns));
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      ASSERT_EQ(result[row * columns + column], expected(row, column))
          << "row " << row << ", column " << column;
    }
  }
  EXPECT_EQ(result.back(), beyond);
}

void expect_products(const DenseSizes& sizes) {
  const auto& [samples, inputs, outputs] = sizes;
  const std::vector<float> x = random_values(samples * inputs, 1);
  const std::vector<float> w = random_values(outputs * inputs, 2);
  const std::vector<float> dy = random_values(samples * outputs, 3);
  expect_matrix(
      sizes, samples, outputs,
      [&](auto scratch, auto result) { dense_output(sizes, x, w, scratch, result); },
      [&](std::size_t s, std::size_t o) {
        return product(inputs, {x, s * inputs, 1}, {w, o * inputs, 1});
      });
  expect_matrix(
      sizes, samples, inputs,
      [&](auto scratch, auto result) { dense_input_gradient(sizes, dy, w, scratch, result); },
      [&](std::size_t s, std::size_t i) {
        return product(outputs, {dy, s * outputs, 1}, {w, i, inputs});
      });
  expect_matrix(
      sizes, outputs, inputs,
      [&](auto scratch, auto result) { dense_weight_gradient(sizes, dy, x, scratch, result); },
      [&](std::size_t o, std::size_t i) {
        return product(samples, {dy, o, outputs}, {x, i, inputs});
      });
}

TEST(DenseProducts, AreSumsOfProductsOneAfterAnother) {
  for (const DenseSizes& sizes :
       {DenseSizes{32, 48, 12},  // whole tiles
        DenseSizes{8, 1, 1}, DenseSizes{9, 3, 5}, DenseSizes{17, 25, 7}, DenseSizes{31, 23, 11},
        DenseSizes{10, 401, 193},    // sums go on behind 192 inputs, and behind 192 outputs
        DenseSizes{385, 50, 13},     // and behind 192 samples
        DenseSizes{9, 2000, 10},     // not all columns are copied at a time: of the input
        DenseSizes{8, 700, 200}}) {  // and of the weights
    SCOPED_TRACE(std::to_string(sizes.samples) + " samples, " + std::to_string(sizes.inputs) +
                 " -> " + std::to_string(sizes.outputs));
    expect_products(sizes);
  }
}

TEST(DenseProducts, AreForSomeSamples) {
#ifdef __FMA__
  const bool is_built = true;
#else
  const bool is_built = false;
#endif
  EXPECT_EQ(has_dense_products({8, 10, 10}), is_built);
  EXPECT_FALSE(has_dense_products({7, 10, 10}));
}

}  // namespace
}  // namespace rubato::nn
