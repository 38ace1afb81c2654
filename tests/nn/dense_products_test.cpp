#include "nn/dense_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "tests/nn/scalar_twin.hpp"

namespace rubato::nn {
namespace {

constexpr float unwritten = std::numeric_limits<float>::quiet_NaN();
constexpr float beyond = 7.0F;  // the end of a result

// The sum of `count` products, one after another, of values that lie some steps apart.
struct Steps {
  const std::vector<float>& values;
  std::size_t first, apart;
};

float product(std::size_t count, const Steps& a, const Steps& b) {
  float sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    add_product_of(a.values[a.first + k * a.apart], b.values[b.first + k * b.apart], sum);
  }
  return sum;
}

// Calls multiply(scratch, result) and compares each value with expected(row, column).
template <typename Multiply, typename Expected>
void expect_matrix(const DenseSizes& sizes, std::size_t rows, std::size_t columns,
                   Multiply multiply, Expected expected) {
  AlignedBuffer<float> scratch;
  const std::size_t floats = dense_products_scratch_floats(sizes);
  const std::span<float> space = scratch.first(floats + 1);
  std::ranges::fill(space, unwritten);
  space.back() = beyond;
  std::vector<float> result(rows * columns + 1, unwritten);
  result.back() = beyond;
  multiply(space.first(floats), std::span(result).first(rows * columns));
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      ASSERT_EQ(result[row * columns + column], expected(row, column))
          << "row " << row << ", column " << column;
    }
  }
  EXPECT_EQ(result.back(), beyond);
  EXPECT_EQ(space.back(), beyond);
}

void expect_products(const DenseSizes& sizes) {
  // Not as structured bindings, which clang 14 does not let lambdas use.
  const std::size_t samples = sizes.samples, inputs = sizes.inputs, outputs = sizes.outputs;
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
        DenseSizes{200, 300, 200},   // columns are copied 144 at a time, then 192 and more
        DenseSizes{9, 4000, 10},     // and 3600 at a time
        DenseSizes{64, 10, 520}}) {  // the largest sums
    SCOPED_TRACE(std::to_string(sizes.samples) + " samples, " + std::to_string(sizes.inputs) +
                 " -> " + std::to_string(sizes.outputs));
    expect_products(sizes);
  }
}

TEST(DenseProducts, AreForSomeSamplesAndOutputs) {
  EXPECT_EQ(has_dense_products({16, 10, 32}), rounds_once);
  EXPECT_FALSE(has_dense_products({15, 1000, 1000}));
  EXPECT_FALSE(has_dense_products({1000, 1000, 31}));
}

}  // namespace
}  // namespace rubato::nn
